import type { StepUpPurpose } from '@auth-account/contracts/http/step-up';
import { AppError } from '@auth-account/errors';
import type { PresentUser, UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { missingField } from '../../request/missing-field.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { type CheckPassword, type CheckPasswordDeps, createCheckPassword } from '../proofs/check-password.ts';
import { type StepUpSettings, stepUpMethods, stepUpRequired } from './step-up-methods.ts';
import type { StepUpTokens } from './step-up-tokens.ts';

export interface ReauthenticateDeps extends CheckPasswordDeps, StepUpSettings {
  readonly users: Pick<UserStore, 'find'>;
  readonly stepUpTokens: Pick<StepUpTokens, 'isToken' | 'useToken'>;
}

/** The fields of a body by which a caller shows who is there. If there are both, the token counts. */
export interface Fresh {
  readonly current_password?: string;
  readonly step_up_token?: string;
}

/** Returns the caller's document. */
export type Reauthenticate = (
  body: Fresh,
  caller: VerifiedAccessToken,
  origin: RequestOrigin,
  purpose: StepUpPurpose,
  options?: ReauthenticateOptions,
) => Promise<PresentUser>;

export interface ReauthenticateOptions {
  /** True if the operation changes no way in, so that it may be repeated with the same token. */
  readonly keepsToken: boolean;
}

/**
 * Creates the check that the caller's user is there, for operations that ask for it: the password, or a step-up token
 * of this session and purpose, which the check uses up unless the operation keeps it.
 *
 * The write that follows must fail if a way in has been changed since. `UserStore.changeFresh` does that.
 *
 * Raises `ERR-STEP-UP-REQUIRED` if the token does not count, or if a password is not enough for the account, the errors
 * of {@link CheckPassword}, `ERR-VALIDATION-FAILED` if there is neither, and `IAD_JWT_ACCESS_INVALID` if the account is
 * gone.
 */
export function createReauthenticate(deps: ReauthenticateDeps): Reauthenticate {
  const { users, stepUpTokens } = deps;
  const checkPassword = createCheckPassword(deps);
  return async (
    { current_password, step_up_token },
    caller,
    origin,
    purpose,
    { keepsToken } = { keepsToken: false },
  ) => {
    const user = await users.find(caller.user_id);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    if (step_up_token !== undefined) {
      const counts = await stepUpTokens[keepsToken ? 'isToken' : 'useToken'](step_up_token, { user, caller, purpose });
      if (!counts) throw stepUpRequired(stepUpMethods(user, deps));
      return user;
    }
    if (current_password === undefined) throw missingField('current_password');
    const methods = stepUpMethods(user, deps);
    if (!methods.includes('password')) throw stepUpRequired(methods);
    await checkPassword(user, current_password, caller, origin);
    return user;
  };
}
