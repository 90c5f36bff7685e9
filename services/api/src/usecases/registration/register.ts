import { RegisterRequest, type RegisterResponse } from '@auth-account/contracts/http/register';
import { AppError } from '@auth-account/errors';
import { emailKey, isDuplicateKey, type UserStore } from '@auth-account/stores';
import { hasSecondFactor } from '@auth-account/stores/second-factors';
import type { Audit } from '../../audit/audit.ts';
import {
  canonicalBody,
  type EarlierAnswer,
  type IdempotentRequest,
  type OpenIdempotent,
  replayed,
} from '../../idempotency/open-idempotent.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { PasswordHasher } from '../../security/password-hasher.ts';
import type { WarnOfGuesses } from '../proofs/warn-of-guesses.ts';
import type { CountRegistration, Spaces, StoreAccount } from './store-account.ts';

export interface RegisterDeps {
  readonly users: Pick<UserStore, 'isEmailTaken' | 'find'>;
  readonly spaces: Pick<Spaces, 'choose'>;
  readonly storeAccount: StoreAccount;
  readonly openIdempotent: OpenIdempotent;
  readonly hasher: Pick<PasswordHasher, 'admit'>;
  readonly countRegistration: CountRegistration;
  readonly limits: Pick<Limits, 'register' | 'registered' | 'replay'>;
  readonly warnOfGuesses: WarnOfGuesses;
  readonly audit: Audit;
  readonly now: () => Date;
}

type RegisterData = RegisterResponse['data'];

export interface RegisterOutput {
  readonly data: RegisterData;
  /** True if the answer repeats that of an earlier request with the same `Idempotency-Key`. */
  readonly isReplayed: boolean;
}

/**
 * Registers an account (docs/specification/registration.md, "Steps").
 *
 * Raises `ERR-RATE-LIMITED`, `ERR-IDEMPOTENCY-KEY-REUSED`, `ERR-EMAIL-ALREADY-EXISTS` (409), `ERR-INVITE-TOKEN-INVALID`
 * (404 if the token never named an invite, 410 if the invite is over) and `ERR-OVERLOADED`. If any of them is raised,
 * nothing is stored. A retry with the same `Idempotency-Key` gets the first answer again, never a 409 because of its
 * own account. The limits on guessing passwords apply to the retry too, because a known key must not help to guess the
 * password.
 */
export function createRegister(
  deps: RegisterDeps,
): (input: RegisterRequest, origin: RequestOrigin) => Promise<RegisterOutput> {
  const { openIdempotent, countRegistration, limits } = deps;
  const register = createRegisterOnce(deps);
  const replay = createReplay(deps);

  async function registerOrReplay(input: RegisterRequest, origin: RequestOrigin): Promise<RegisterOutput> {
    await limits.register(origin);
    const body = canonicalBody(RegisterRequest, input);
    const scope = { route: 'register', caller: emailKey(input.email), key: origin.idempotencyKey, body };
    const idempotent = openIdempotent<RegisterData>(scope);
    const earlier = await idempotent.find();
    if (earlier !== undefined) return replay(earlier, input, origin);
    const carriedOut = await idempotent
      .carryOut(() => register(input, origin, idempotent))
      .catch((error: unknown) => refuse(input, error));
    if ('earlier' in carriedOut) return replay(carriedOut.earlier, input, origin);
    return { data: carriedOut.result, isReplayed: false };
  }

  return (input, origin) => countRegistration(input.space_creation_mode, () => registerOrReplay(input, origin));
}

/** Registers: makes the hash and then commits the change. */
function createRegisterOnce(deps: RegisterDeps) {
  const { users, spaces, hasher, limits, storeAccount } = deps;

  return async (
    input: RegisterRequest,
    origin: RequestOrigin,
    idempotent: IdempotentRequest<RegisterData>,
  ): Promise<RegisterData> => {
    if (await users.isEmailTaken(input.email, deps.now())) refuseTaken(input);
    const space = await spaces.choose(input);
    // Only a registration that can still succeed asks the hash gate for a hash.
    const password_hash = await hasher.admit(origin, (turn) => turn.hash(input.password));
    const { data } = await storeAccount({ ...input, space, fields: { password_hash } }, origin, idempotent.keep);
    await limits.registered(input.email, origin);
    return data;
  };
}

/** Answers a request whose key was used before. */
function createReplay(deps: RegisterDeps) {
  const { users, limits, warnOfGuesses, audit } = deps;

  /**
   * Returns true if the account still has the password and the email address that the request registered, and demands
   * nothing else.
   */
  async function isUnchanged({ answer }: EarlierAnswer<RegisterData>, { email }: RegisterRequest): Promise<boolean> {
    const user = await users.find(answer.user_id);
    const hasPassword = user?.password_changed_at === undefined && user?.email_key === emailKey(email);
    return hasPassword && !hasSecondFactor(user);
  }

  return async (
    earlier: EarlierAnswer<RegisterData>,
    input: RegisterRequest,
    origin: RequestOrigin,
  ): Promise<RegisterOutput> => {
    const attempt = await limits.replay(input.email, origin);
    if (earlier.isSame) {
      // A reset may have taken the account from the person who registered it. The account must not learn that person's
      // device and network again.
      if (await isUnchanged(earlier, input)) await attempt.succeed();
      else await limits.replay(input.email, origin);
    } else {
      const { user_id } = earlier.answer;
      const { isLast } = await attempt.fail();
      if (isLast) await warnOfGuesses('password', await users.find(user_id), origin);
      audit({ event: 'login.failed', user_id, reason: 'idempotency_key_reused' }, origin);
    }
    return { data: replayed(earlier), isReplayed: true };
  };
}

/** Throws the error for the caller if a registration has failed. */
function refuse(input: RegisterRequest, error: unknown): never {
  if (isDuplicateKey(error, 'email_key')) refuseTaken(input, error);
  throw error;
}

function refuseTaken({ email }: RegisterRequest, cause?: unknown): never {
  throw new AppError('ERR-EMAIL-ALREADY-EXISTS', { details: { rejected_email: email }, cause });
}
