import { AppError } from '@auth-account/errors';
import type { UserDocument } from '@auth-account/stores/documents';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { PasswordHasher } from '../../security/password-hasher.ts';
import type { WarnOfGuesses } from './warn-of-guesses.ts';

export interface CheckPasswordDeps {
  readonly hasher: Pick<PasswordHasher, 'admit'>;
  readonly limits: Pick<Limits, 'guess'>;
  readonly warnOfGuesses: WarnOfGuesses;
  readonly audit: Audit;
}

/** Throws unless this is the password of the caller's account. */
export type CheckPassword = (
  user: Pick<UserDocument, '_id' | 'email' | 'password_hash' | 'locale'>,
  password: string,
  caller: VerifiedAccessToken,
  origin: RequestOrigin,
) => Promise<void>;

/**
 * Creates the check of the password of a caller's account. A wrong password counts as a failed login of the session's
 * device, and the owner is warned when the tries are used up. Raises `ERR-REAUTHENTICATION-FAILED`, `ERR-RATE-LIMITED`
 * and `ERR-OVERLOADED`.
 */
export function createCheckPassword({ hasher, limits, warnOfGuesses, audit }: CheckPasswordDeps): CheckPassword {
  return async (user, password, caller, origin) => {
    const { email, password_hash } = user;
    const { user_id, sid: session_id } = caller;
    const attempt = await limits.guess(email, caller, origin);
    const isRight = await hasher.admit(origin, (turn) => turn.verify(password_hash, password));
    if (!isRight) {
      const { isLast } = await attempt.fail();
      if (isLast) await warnOfGuesses('password', user, origin);
      audit({ event: 'reauthentication.failed', user_id, session_id }, origin);
      throw new AppError('ERR-REAUTHENTICATION-FAILED');
    }
    await attempt.succeed();
  };
}
