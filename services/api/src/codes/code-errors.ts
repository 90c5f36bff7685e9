import { AppError } from '@auth-account/errors';

/** Returns `ERR-CODE-INVALID`; without tries left for what is dead or unknown. */
export function codeInvalid(triesLeft = 0): AppError {
  return new AppError('ERR-CODE-INVALID', { details: { tries_left: triesLeft } });
}
