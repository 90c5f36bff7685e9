import { AppError } from '@auth-account/errors';
import type { RequestOrigin } from '../request-origin.ts';

/**
 * Throws where the client has given the request up. To be called before what would harm a client that has asked again
 * meanwhile, and gone on with that answer. Nobody hears the error.
 */
export function assertAwaited({ isAbandoned }: RequestOrigin): void {
  if (isAbandoned?.()) throw new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds: 1 });
}
