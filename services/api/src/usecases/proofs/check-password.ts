import { AppError, isAppError } from '@auth-account/errors';
import type { PresentUser, UserStore } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';
import { hasSecondFactor } from '@auth-account/stores/second-factors';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { PasswordHasher } from '../../security/password-hasher.ts';
import type { WarnOfGuesses } from './warn-of-guesses.ts';

export interface AuthenticateDeps {
  readonly users: Pick<UserStore, 'findByEmail' | 'setPasswordHash'>;
  readonly hasher: PasswordHasher;
  readonly limits: Pick<Limits, 'logIn'>;
  readonly warnOfGuesses: WarnOfGuesses;
  readonly audit: Audit;
}

/** An email address and a password. */
export interface GivenCredentials {
  readonly email: string;
  readonly password: string;
}

/** Returns the account that has this email address and password. */
export type Authenticate = (given: GivenCredentials, origin: RequestOrigin) => Promise<PresentUser>;

/**
 * Checks an email address and a password, which the limits and the hash gate must admit first. It replaces a weak hash
 * if the password is right, and warns the owner when the tries are used up. If the account demands a second factor, it
 * does not learn the device and network from the password.
 *
 * Raises `ERR-INVALID-CREDENTIALS` for a wrong password and for an unknown email address alike, after the same work,
 * `ERR-RATE-LIMITED` and `ERR-OVERLOADED`.
 */
export function createAuthenticate({ users, hasher, limits, warnOfGuesses, audit }: AuthenticateDeps): Authenticate {
  async function rehash(
    { _id, password_hash: stored }: PresentUser,
    password: string,
    origin: RequestOrigin,
  ): Promise<void> {
    if (!hasher.isWeak(stored)) return;
    try {
      const better = await hasher.admit(origin, (turn) => turn.hash(password));
      await users.setPasswordHash(_id, stored, better);
    } catch (error) {
      // The password was right, so under overload this login succeeds without the better hash. The next login makes the
      // better hash.
      if (!isAppError(error) || error.code !== 'ERR-OVERLOADED') throw error;
    }
  }

  return async ({ email, password }, origin) => {
    const attempt = await limits.logIn(email, origin);
    // The hash gate comes first, so that a shed request has not read the account.
    const { user, isRight } = await hasher.admit(origin, async (turn) => {
      const found = await users.findByEmail(email);
      return { user: found, isRight: await turn.verify(found?.password_hash, password) };
    });
    if (user === undefined || !isRight) {
      const { isLast } = await attempt.fail();
      if (isLast) await warnOfGuesses('password', user, origin);
      const reason = user === undefined ? 'unknown_account' : 'wrong_password';
      audit({ event: 'login.failed', user_id: user?._id, reason }, origin);
      throw new AppError('ERR-INVALID-CREDENTIALS');
    }
    await attempt.succeed({ isAwaitingFactor: hasSecondFactor(user) });
    await rehash(user, password, origin);
    return user;
  };
}

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
 * Checks the password of a caller's account. A wrong password counts as a failed login of the session's device, and the
 * owner is warned when the tries are used up. Raises `ERR-REAUTHENTICATION-FAILED`, `ERR-RATE-LIMITED` and
 * `ERR-OVERLOADED`.
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
