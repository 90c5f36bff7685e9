import { AppError } from '@auth-account/errors';

/** The last route: raises `ERR-ROUTE-NOT-FOUND`. */
export function refuseUnknownRoute(): never {
  throw new AppError('ERR-ROUTE-NOT-FOUND');
}
