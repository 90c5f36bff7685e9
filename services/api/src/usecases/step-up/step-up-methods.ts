import { type StepUpMethod, type StepUpPurpose, stepUpSeconds } from '@auth-account/contracts/http/step-up';
import { AppError } from '@auth-account/errors';
import type { PresentUser, SessionStore } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';
import { factorMethods, hasSecondFactor } from '@auth-account/stores/second-factors';
import { sessionAuth } from '@auth-account/stores/session-auth';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';

/** The part of the user's document that shows how the user can prove who is there. */
type SignInMethods = PresentUser<Pick<UserDocument, 'is_password_void' | 'totp' | 'recovery_codes' | 'passkeys'>>;

export interface StepUpSettings {
  /** `WEBAUTHN_RP_ID`; undefined if the service has no passkeys. */
  readonly rpId: string | undefined;
}

/**
 * Returns the methods by which the account's user can prove once more who is there. While the second factor is on, only
 * that factor counts. A mailed code counts only for an account that has nothing else, because anybody who holds the
 * mailbox would otherwise need no other proof.
 */
export function stepUpMethods(user: SignInMethods, { rpId }: StepUpSettings): readonly StepUpMethod[] {
  const arePasskeysOn = rpId !== undefined;
  if (hasSecondFactor(user)) return factorMethods(user, arePasskeysOn);
  const { is_password_void = false, passkeys = [] } = user;
  const methods: StepUpMethod[] = is_password_void ? [] : ['password'];
  if (arePasskeysOn && passkeys.length > 0) methods.push('passkey');
  return methods.length > 0 ? methods : ['email_code'];
}

/** Methods that are one factor. */
const singleFactors: readonly StepUpMethod[] = ['password', 'email_code'];

/** Returns those of the methods that are two factors, with the proof that the session has. */
export function twoFactorMethods(methods: readonly StepUpMethod[]): readonly StepUpMethod[] {
  return methods.filter((method) => !singleFactors.includes(method));
}

export interface FindStepUpMethodsDeps extends StepUpSettings {
  readonly sessions: Pick<SessionStore, 'find'>;
}

/**
 * Returns the methods that count for that purpose. A session of two factors is renewed by two, if the account has a
 * method that is two: its tokens describe one proof, the latest, so a password would take the second factor from them.
 */
export function createFindStepUpMethods({ sessions, rpId }: FindStepUpMethodsDeps) {
  return async (
    user: SignInMethods,
    purpose: StepUpPurpose,
    { sid }: Pick<VerifiedAccessToken, 'sid'>,
  ): Promise<readonly StepUpMethod[]> => {
    const all = stepUpMethods(user, { rpId });
    const strong = twoFactorMethods(all);
    if (purpose !== 'session' || strong.length === 0 || strong.length === all.length) return all;
    const session = await sessions.find(sid);
    return session && sessionAuth(session).acr === '2' ? strong : all;
  };
}

/** Returns `ERR-STEP-UP-REQUIRED` with the methods that count. */
export function stepUpRequired(methods: readonly StepUpMethod[]): AppError {
  const details = { methods: [...methods], max_age: stepUpSeconds };
  return new AppError('ERR-STEP-UP-REQUIRED', { status: 403, details });
}
