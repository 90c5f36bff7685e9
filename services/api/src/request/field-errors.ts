import { AppError, type ValidationType } from '@auth-account/errors';

/** Returns the error for a field whose form the schema alone cannot check. */
export function malformedField(name: string): AppError {
  return fieldError(name, 'string_pattern_mismatch', 'String should match the expected pattern');
}

function fieldError(name: string, type: ValidationType, msg: string): AppError {
  return new AppError('ERR-VALIDATION-FAILED', { details: [{ loc: ['body', name], msg, type }] });
}
