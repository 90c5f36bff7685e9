import { AppError } from '@auth-account/errors';
import type { UserStore } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { PasswordHasher } from '../../security/password-hasher.ts';

export interface ReauthenticateDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly hasher: Pick<PasswordHasher, 'admit'>;
  readonly limits: Pick<Limits, 'guess'>;
  readonly audit: Audit;
}

/** Returns the caller's document, whose password was compared. */
export type Reauthenticate = (
  body: { readonly current_password: string },
  caller: VerifiedAccessToken,
  origin: RequestOrigin,
) => Promise<UserDocument>;

/**
 * Creates the check that the caller knows the password of the account, for operations that ask for it again. A wrong
 * password counts as a failed login of the session's device.
 *
 * The write that follows must fail if the password has been changed since. `UserStore.changeFresh` does that.
 *
 * Raises `ERR-REAUTHENTICATION-FAILED`, `ERR-RATE-LIMITED`, `ERR-OVERLOADED`, and `IAD_JWT_ACCESS_INVALID` if the
 * account is gone.
 */
export function createReauthenticate({ users, hasher, limits, audit }: ReauthenticateDeps): Reauthenticate {
  return async ({ current_password }, { user_id, sid: session_id, device_id: deviceId }, origin) => {
    const user = await users.find(user_id);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const attempt = await limits.guess({ email: user.email, deviceId }, origin);
    const isRight = await hasher.admit(origin, (turn) => turn.verify(user.password_hash, current_password));
    if (!isRight) {
      await attempt.fail();
      audit({ event: 'reauthentication.failed', user_id, session_id }, origin);
      throw new AppError('ERR-REAUTHENTICATION-FAILED');
    }
    await attempt.succeed();
    return user;
  };
}
