import { type StepUpMethod, stepUpSeconds } from '@auth-account/contracts/http/step-up';
import { AppError } from '@auth-account/errors';
import type { UserDocument } from '@auth-account/stores/documents';

/**
 * Returns the ways in which the account's user can prove once more who is there. A mailed code counts only for an
 * account that has nothing else, because whoever holds the mailbox would otherwise need no other proof.
 */
export function stepUpMethods({ is_password_void }: Pick<UserDocument, 'is_password_void'>): readonly StepUpMethod[] {
  return is_password_void ? ['email_code'] : ['password'];
}

/** Returns `ERR-STEP-UP-REQUIRED` with the ways that count for the account. */
export function stepUpRequired(user: Pick<UserDocument, 'is_password_void'>): AppError {
  const details = { methods: [...stepUpMethods(user)], max_age: stepUpSeconds };
  return new AppError('ERR-STEP-UP-REQUIRED', { status: 403, details });
}
