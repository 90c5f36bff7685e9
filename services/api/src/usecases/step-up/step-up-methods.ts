import { type StepUpMethod, stepUpSeconds } from '@auth-account/contracts/http/step-up';
import { AppError } from '@auth-account/errors';
import type { UserDocument } from '@auth-account/stores/documents';
import { factorMethods, hasSecondFactor } from '@auth-account/stores/second-factors';

/** The part of the user's document that shows how the user can prove who is there. */
type Ways = Pick<UserDocument, 'is_password_void' | 'totp' | 'recovery_codes' | 'passkeys'>;

export interface StepUpSettings {
  /** `WEBAUTHN_RP_ID`; undefined if the service has no passkeys. */
  readonly rpId: string | undefined;
}

/**
 * Returns the ways in which the account's user can prove once more who is there. While the second factor is on, only
 * that factor counts. A mailed code counts only for an account that has nothing else, because anybody who holds the
 * mailbox would otherwise need no other proof.
 */
export function stepUpMethods(user: Ways, { rpId }: StepUpSettings): readonly StepUpMethod[] {
  const arePasskeysOn = rpId !== undefined;
  if (hasSecondFactor(user)) return factorMethods(user, arePasskeysOn);
  const { is_password_void = false, passkeys = [] } = user;
  const methods: StepUpMethod[] = is_password_void ? [] : ['password'];
  if (arePasskeysOn && passkeys.length > 0) methods.push('passkey');
  return methods.length > 0 ? methods : ['email_code'];
}

/** Returns `ERR-STEP-UP-REQUIRED` with the ways that count for the account. */
export function stepUpRequired(user: Ways, settings: StepUpSettings): AppError {
  const details = { methods: [...stepUpMethods(user, settings)], max_age: stepUpSeconds };
  return new AppError('ERR-STEP-UP-REQUIRED', { status: 403, details });
}
