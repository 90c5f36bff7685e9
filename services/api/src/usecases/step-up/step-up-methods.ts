import { type StepUpMethod, stepUpSeconds } from '@auth-account/contracts/http/step-up';
import { AppError } from '@auth-account/errors';
import type { UserDocument } from '@auth-account/stores/documents';
import { factorMethods, hasSecondFactor } from '@auth-account/stores/second-factors';

/** The part of the user's document that shows how the user can prove who is there. */
type Ways = Pick<UserDocument, 'is_password_void' | 'totp' | 'recovery_codes'>;

/**
 * Returns the ways in which the account's user can prove once more who is there. While the second factor is on, only
 * that factor counts. A mailed code counts only for an account that has nothing else, because anybody who holds the
 * mailbox would otherwise need no other proof.
 */
export function stepUpMethods(user: Ways): readonly StepUpMethod[] {
  if (hasSecondFactor(user)) return factorMethods(user);
  return user.is_password_void ? ['email_code'] : ['password'];
}

/** Returns `ERR-STEP-UP-REQUIRED` with the ways that count for the account. */
export function stepUpRequired(user: Ways): AppError {
  const details = { methods: [...stepUpMethods(user)], max_age: stepUpSeconds };
  return new AppError('ERR-STEP-UP-REQUIRED', { status: 403, details });
}
