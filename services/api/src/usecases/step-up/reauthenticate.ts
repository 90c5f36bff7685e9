import type { StepUpPurpose } from '@auth-account/contracts/http/step-up';
import { AppError } from '@auth-account/errors';
import type { PresentUser, UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { type CheckPassword, type CheckPasswordDeps, createCheckPassword } from '../proofs/check-password.ts';
import type { ChallengeUse } from '../proofs/consume-proof.ts';
import { type StepUpSettings, stepUpMethods, stepUpRequired } from './step-up-methods.ts';
import type { StepUpTokens } from './step-up-tokens.ts';

export interface ReauthenticateDeps extends CheckPasswordDeps, StepUpSettings {
  readonly users: Pick<UserStore, 'find'>;
  readonly stepUpTokens: Pick<StepUpTokens, 'openToken' | 'isUsed' | 'use'>;
}

/** The fields of a body by which a caller shows who is there. If there are both, the token counts. */
export interface Reauthentication {
  readonly current_password?: string;
  readonly step_up_token?: string;
}

/** Checks the body, and returns a result with the caller's document. */
type Check<T> = (
  body: Reauthentication,
  caller: VerifiedAccessToken,
  origin: RequestOrigin,
  purpose: StepUpPurpose,
) => Promise<T>;

/** Returns the caller's document. */
export type Reauthenticate = Check<PresentUser>;

/** A caller who has shown who is there. */
export interface Permitted {
  readonly user: PresentUser;
  /** The use of the step-up token. It must succeed in the transaction of what the token permits. */
  readonly challengeUse: ChallengeUse | undefined;
}

/**
 * Checks that the caller's user is there, for operations that ask for it: the password, or a step-up token of this
 * session and purpose. The check uses the token up, whatever becomes of the operation.
 *
 * The write that follows must fail if a sign-in method has been changed since. `UserStore.changeIfUnchanged` does that.
 *
 * Raises `ERR-STEP-UP-REQUIRED` if the token does not count, or if a password is not enough for the account, the errors
 * of {@link CheckPassword}, and `IAD_JWT_ACCESS_INVALID` if the account is gone.
 */
export function createReauthenticate(deps: ReauthenticateDeps): Reauthenticate {
  const permit = createPermit(deps, (challengeUse) => deps.stepUpTokens.use(challengeUse));
  return async (...request) => (await permit(...request)).user;
}

/**
 * The same check for an operation that changes nothing yet. It leaves an unused token to the change that follows, so
 * that the user may begin anew.
 */
export function createPermitLater(deps: ReauthenticateDeps): Check<Permitted> {
  return createPermit(deps, async (challengeUse) => !(await deps.stepUpTokens.isUsed(challengeUse)));
}

function createPermit(
  deps: ReauthenticateDeps,
  take: (challengeUse: ChallengeUse) => Promise<boolean>,
): Check<Permitted> {
  const { users, stepUpTokens } = deps;
  const checkPassword = createCheckPassword(deps);
  // The schemas demand one of the two.
  return async ({ current_password = '', step_up_token }, caller, origin, purpose) => {
    const user = await users.find(caller.user_id);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const methods = stepUpMethods(user, deps);
    if (step_up_token !== undefined) {
      const challengeUse = await stepUpTokens.openToken(step_up_token, { user, caller, purpose });
      if (challengeUse === undefined || !(await take(challengeUse))) throw stepUpRequired(methods);
      return { user, challengeUse };
    }
    if (!methods.includes('password')) throw stepUpRequired(methods);
    await checkPassword(user, current_password, caller, origin);
    return { user, challengeUse: undefined };
  };
}
