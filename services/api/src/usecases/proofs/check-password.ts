import { AppError } from '@auth-account/errors';
import type { UserDocument } from '@auth-account/stores/documents';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { PasswordHasher } from '../../security/password-hasher.ts';

export interface CheckPasswordDeps {
  readonly hasher: Pick<PasswordHasher, 'admit'>;
  readonly limits: Pick<Limits, 'guess'>;
  readonly audit: Audit;
}

/** Throws unless this is the password of the caller's account. */
export type CheckPassword = (
  user: Pick<UserDocument, 'email' | 'password_hash'>,
  password: string,
  caller: VerifiedAccessToken,
  origin: RequestOrigin,
) => Promise<void>;

/**
 * Creates the check of the password of a caller's account. A wrong password counts as a failed login of the session's
 * device. Raises `ERR-REAUTHENTICATION-FAILED`, `ERR-RATE-LIMITED` and `ERR-OVERLOADED`.
 */
export function createCheckPassword({ hasher, limits, audit }: CheckPasswordDeps): CheckPassword {
  return async ({ email, password_hash }, password, caller, origin) => {
    const { user_id, sid: session_id } = caller;
    const attempt = await limits.guess(email, caller, origin);
    const isRight = await hasher.admit(origin, (turn) => turn.verify(password_hash, password));
    if (!isRight) {
      await attempt.fail();
      audit({ event: 'reauthentication.failed', user_id, session_id }, origin);
      throw new AppError('ERR-REAUTHENTICATION-FAILED');
    }
    await attempt.succeed();
  };
}
