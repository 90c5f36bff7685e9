import { AppError } from '@auth-account/errors';

/** Returns the error for a body without a field that the schema alone cannot require. */
export function missingField(name: string): AppError {
  const details = [{ loc: ['body', name], msg: 'Field required', type: 'missing' as const }];
  return new AppError('ERR-VALIDATION-FAILED', { details });
}
