import { AppError, isAppError } from '@auth-account/errors';
import type { PresentUser, UserStore } from '@auth-account/stores';
import { hasSecondFactor } from '@auth-account/stores/second-factors';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { PasswordHasher } from '../../security/password-hasher.ts';
import type { WarnOfGuesses } from '../proofs/warn-of-guesses.ts';

export interface AuthenticateDeps {
  readonly users: Pick<UserStore, 'findByEmail' | 'setPasswordHash'>;
  readonly hasher: PasswordHasher;
  readonly limits: Pick<Limits, 'logIn'>;
  readonly warnOfGuesses: WarnOfGuesses;
  readonly audit: Audit;
}

/** An address and a password. */
export interface GivenCredentials {
  readonly email: string;
  readonly password: string;
}

/** Returns the account that has this address and password. */
export type Authenticate = (given: GivenCredentials, origin: RequestOrigin) => Promise<PresentUser>;

/**
 * Creates the check of an address and a password, which the limits and the hash gate must admit first. It replaces a
 * weak hash if the password is right, and warns the owner when the tries are used up. If the account demands a second
 * factor, it does not learn the device and network from the password.
 *
 * Raises `ERR-INVALID-CREDENTIALS` for a wrong password and for an unknown address alike, after the same work,
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
    await attempt.succeed({ isHalf: hasSecondFactor(user) });
    await rehash(user, password, origin);
    return user;
  };
}
