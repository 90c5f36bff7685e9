import type { RegisteredEvent } from '@auth-account/contracts';
import { RegisterRequest, type RegisterResponse } from '@auth-account/contracts/http/register';
import { AppError, isAppError } from '@auth-account/errors';
import { createRegisteredEvent, eventOrigin } from '@auth-account/messaging';
import { emailKey, isDuplicateKey, type UserStore } from '@auth-account/stores';
import { hasSecondFactor } from '@auth-account/stores/second-factors';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Audit } from '../../audit/audit.ts';
import {
  canonicalBody,
  type EarlierAnswer,
  type IdempotentRequest,
  type OpenIdempotent,
  replayed,
} from '../../idempotency/open-idempotent.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { PasswordHasher } from '../../security/password-hasher.ts';
import { knownAs } from '../login/new-device.ts';
import type { Space, Spaces } from './spaces.ts';

export interface RegisterDeps {
  readonly users: Pick<UserStore, 'isEmailTaken' | 'find' | 'exists' | 'insert'>;
  readonly spaces: Spaces;
  readonly commit: Commit;
  readonly openIdempotent: OpenIdempotent;
  readonly hasher: Pick<PasswordHasher, 'admit'>;
  /** Called with the outcome of each registration, to count it. */
  readonly onEnd: (mode: RegisterRequest['space_creation_mode'], outcome: RegistrationOutcome) => void;
  readonly limits: Pick<Limits, 'register' | 'registered' | 'replay'>;
  readonly audit: Audit;
  readonly ids: Ids;
  readonly now: () => Date;
}

/** `failed` means the service's own fault (a status of 5xx). */
export type RegistrationOutcome = 'created' | 'replayed' | 'refused' | 'failed';

type RegisterData = RegisterResponse['data'];

export interface RegisterOutput {
  readonly data: RegisterData;
  /** True if the answer repeats that of an earlier request with the same `Idempotency-Key`. */
  readonly isReplayed: boolean;
}

/**
 * All data that one registration stores. It is created before the transaction, so that the transaction can run again.
 */
interface Registration {
  readonly space: Space;
  readonly user: Parameters<UserStore['insert']>[0];
  readonly event: RegisteredEvent;
  readonly data: RegisterData;
  readonly at: Date;
}

type Register = (input: RegisterRequest, origin: RequestOrigin) => Promise<RegisterOutput>;

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
  const { openIdempotent, onEnd, limits } = deps;
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

  return counted(registerOrReplay, onEnd);
}

/** Returns a function that registers in the same way and reports the outcome to `onEnd`. */
function counted(register: Register, onEnd: RegisterDeps['onEnd']): Register {
  return async (input, origin) => {
    const mode = input.space_creation_mode;
    try {
      const output = await register(input, origin);
      onEnd(mode, output.isReplayed ? 'replayed' : 'created');
      return output;
    } catch (error) {
      onEnd(mode, isAppError(error) && error.status < 500 ? 'refused' : 'failed');
      throw error;
    }
  };
}

/** Creates the registration itself, which makes the hash and then commits the change. */
function createRegisterOnce(deps: RegisterDeps) {
  const { users, spaces, hasher, limits, commit } = deps;

  return async (
    input: RegisterRequest,
    origin: RequestOrigin,
    idempotent: IdempotentRequest<RegisterData>,
  ): Promise<RegisterData> => {
    if (await users.isEmailTaken(input.email, deps.now())) refuseTaken(input);
    const space = await spaces.choose(input);
    // Only a registration that can still succeed asks the hash gate for a hash.
    const passwordHash = await hasher.admit(origin, (turn) => turn.hash(input.password));
    const registration = prepare(deps, input, origin, space, passwordHash);
    const { user, event, data, at } = registration;
    await commit(
      {
        at,
        // A new group needs no lock, because nobody else knows it yet.
        lockKey: space.kind === 'join' ? space.home_group_id : undefined,
        isCommitted: () => users.exists(user._id),
        ifClientLeft: 'commit',
        async work(session) {
          // This is the first write, so that a simultaneous request with the same key waits here and does not conflict
          // at the address.
          await idempotent.keep(data, user._id, session);
          await users.insert(user, session);
          await spaces.enter(space, user._id, at, session);
          return { events: [event], audit: [{ event: 'account.registered', user_id: user._id }], sessions: none };
        },
      },
      origin,
    );
    await limits.registered(loginOf(input), origin);
    return data;
  };
}

/** Creates the answer to a request whose key was used before. */
function createReplay(deps: RegisterDeps) {
  const { users, limits, audit } = deps;

  /**
   * Returns true if the account still has the password and the address that the request registered, and demands nothing
   * else.
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
    const login = loginOf(input);
    const attempt = await limits.replay(login, origin);
    if (earlier.isSame) {
      // A reset may have taken the account from the person who registered it. The account must not learn that person's
      // device and network again.
      if (await isUnchanged(earlier, input)) await attempt.succeed();
      else await limits.replay(login, origin);
    } else {
      await attempt.fail();
      audit({ event: 'login.failed', user_id: earlier.answer.user_id, reason: 'idempotency_key_reused' }, origin);
    }
    return { data: replayed(earlier), isReplayed: true };
  };
}

/** Returns the account and device that a login with the data of this request would have. */
function loginOf({ email, device_id }: RegisterRequest) {
  return { email, deviceId: device_id?.toLowerCase() };
}

function prepare(
  { ids, now }: RegisterDeps,
  { email, device_id, space_creation_mode }: RegisterRequest,
  origin: RequestOrigin,
  space: Space,
  password_hash: string,
): Registration {
  const at = now();
  const { home_group_id, account_type } = space;
  const isNew = space.kind === 'new';
  const user = {
    _id: ids.entityId(),
    email,
    email_key: emailKey(email),
    password_hash,
    home_group_id,
    account_type,
    role: isNew ? 'owner' : 'member',
    created_at: at,
    joined_at: at,
    // It has no session yet.
    spent_touches: 0,
    ...(space.kind === 'join' && { joined_by: space.token }),
    ...(device_id && { known_devices: [knownAs({ device_id })] }),
  } as const;
  const registered = { user_id: user._id, home_group_id, account_type };
  const event = createRegisteredEvent(
    { ...registered, space_creation_mode, is_new_group: isNew, registered_at: at.toISOString() },
    eventOrigin(origin, at, ids),
  );
  return { space, user, event, data: { ...registered, timestamp: at.toISOString() }, at };
}

/** Throws the error for the caller if a registration has failed. */
function refuse(input: RegisterRequest, error: unknown): never {
  if (isDuplicateKey(error, 'email_key')) refuseTaken(input, error);
  throw error;
}

function refuseTaken({ email }: RegisterRequest, cause?: unknown): never {
  throw new AppError('ERR-EMAIL-ALREADY-EXISTS', { details: { rejected_email: email }, cause });
}
