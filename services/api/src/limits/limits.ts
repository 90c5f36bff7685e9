import type { KeyObject } from 'node:crypto';
import { AppError } from '@auth-account/errors';
import { networkOf, type PrefixLength } from '@auth-account/lifecycle';
import { createLimitKeys, type LimitKeys, type RedisClient } from '@auth-account/redis';
import { emailKey } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { heldBy, type RequestOrigin } from '../request/request-origin.ts';
import { createCodeLimit } from './code-limit.ts';
import { type CountedAccount, countedAs } from './counted-account.ts';
import { createFactorLimit, type TakenTry } from './factor-limit.ts';
import { type LimitRule, type LimitSettings, type RequestLimitRow, requestLimits } from './limits-table.ts';
import { createLoginLimits, type LoginLimits, type Refusal, refusalOf } from './login-limits.ts';
import type { LoginIdentity } from './login-names.ts';
import { createRequestLimit, type RequestLimit, type RequestLimitOptions } from './request-limit.ts';
import { createSettledLimit } from './settled-limit.ts';

/** The account that a code is requested for, and the source of the request. */
export interface CodeOrder {
  /** Email address of the account. */
  readonly email: string;
  /** True if the mailbox is known to belong to the account. */
  readonly isVerified: boolean;
  /** True if the request comes with a session or the password. */
  readonly hasAccess: boolean;
  /**
   * Time of the account's latest recovery, from which on the codes of known devices, networks and sessions count anew.
   */
  readonly recoveredAt?: Date | undefined;
  /** Given if the code goes to another email address than the account's. */
  readonly change?: {
    /** Name by which the user's codes are counted. A change of the email address must not begin a new count. */
    readonly userId: string;
    /** Email address that the code goes to, or would go to if no other account had it. */
    readonly to: string;
  };
}

/**
 * An admitted login attempt, whose password may be hashed. The attempt is counted, and its verdict final, only when
 * `fail` or `succeed` has resolved.
 */
export interface LoginAttempt {
  /**
   * Called when the password was wrong or there is no such account. `isLast`: this device or network has no further try
   * in the account's total, and the owner should know.
   */
  fail(): Promise<{ readonly isLast: boolean }>;
  /**
   * Called when the password was right. The account then knows this device and network, unless the login awaits its
   * second factor.
   */
  succeed(login?: { readonly isAwaitingFactor: boolean }): Promise<void>;
}

/** An admitted try of a second factor, which may be compared. It is counted until it is given back or succeeds. */
export type FactorTry = Exclude<TakenTry, { readonly waitMs: number }>;

/** A try of a second factor: at a login, or in a session. */
export interface FactorAttempt {
  readonly account: Pick<UserDocument, 'email' | 'recovered_at' | 'password_changed_at'> &
    Partial<Pick<UserDocument, '_id'>>;
  /** Key that the login has proven; the request's own by default. */
  readonly jkt?: string | undefined;
  /** Session whose user shows the factor. */
  readonly session?: Pick<VerifiedAccessToken, 'device_id' | 'amr'> | undefined;
  /** False for a factor that can't be guessed. It does not count towards the account's total. */
  readonly isGuess: boolean;
}

/** The functions of the table's limits, by the names of their rows. */
type CountRequests = {
  readonly [L in keyof RequestRows]: RequestRows[L]['per'] extends 'network'
    ? (origin: RequestOrigin) => Promise<void>
    : (who: Counted<RequestRows[L]>, origin: RequestOrigin) => Promise<void>;
};

/** The account, session or internal service that a row counts. */
type Counted<R> = R extends { readonly isGivenBack: true } ? CountedAccount : string;

/**
 * The rate limits, as use cases see them. Each raises `ERR-RATE-LIMITED` with `Retry-After`, and writes that to the
 * audit log.
 */
export interface Limits extends CountRequests {
  /**
   * Counts a code by e-mail. Unknown devices can't use up the codes of known devices and networks. A code to another
   * email address than the account's also counts for that one, over all accounts.
   */
  requestCode(order: CodeOrder, origin: RequestOrigin): Promise<void>;
  /** Counts the denials that the internal service was sent as if they were further requests of it. Never raises. */
  revocationsSent(internalService: string, count: number): Promise<void>;
  /**
   * The steps of the returned attempt also raise the error, so that of simultaneous attempts no more get a verdict than
   * the rules allow.
   */
  logIn(email: string, origin: RequestOrigin): Promise<LoginAttempt>;
  /**
   * Like `logIn`, for a password that is sent with a session. It counts for the session, not for the device: a thief
   * with another sign-in method can open a session under the device's id. It does not count for the network's total of
   * logins, and the account learns no device or network from it.
   */
  guess(email: string, session: Pick<VerifiedAccessToken, 'sid' | 'amr'>, origin: RequestOrigin): Promise<LoginAttempt>;
  /** Like `logIn`, for a repeated registration. It does not count for the network's total of logins. */
  replay(email: string, origin: RequestOrigin): Promise<LoginAttempt>;
  /** Takes a try of a second factor. Unknown devices can't use up the tries of known devices and networks. */
  secondFactor(attempt: FactorAttempt, origin: RequestOrigin): Promise<FactorTry>;
  /**
   * Called when a login without password was right. The account then knows this device and network, and their failures
   * are forgotten. Never raises.
   */
  known(email: string, origin: RequestOrigin): Promise<void>;
  /**
   * Called when two factors have completed a login, or have been shown in a session. The account then knows this device
   * and network. `jkt` is the key that the login has proven, if that was not by this request. `hasPassword`: one of the
   * two was the password. Never raises.
   */
  completed(email: string, origin: RequestOrigin, jkt?: string, hasPassword?: boolean): Promise<void>;
  /**
   * Called when the account has been created, or its email address proved for the first time. It then knows only this
   * device and network, none of them for its second factor, and earlier failures no longer count. Never raises.
   */
  registered(email: string, origin: RequestOrigin): Promise<void>;
  /**
   * Called when the account has a new email address, to which the session has changed it. Like `registered`, but the
   * totals of wrong passwords and second factors go on.
   */
  moved(
    change: { readonly from: string; readonly to: string },
    session: Pick<VerifiedAccessToken, 'sid' | 'device_id'>,
    origin: RequestOrigin,
  ): Promise<void>;
  /**
   * Called when a code from the account's mailbox has set a new password. The account then knows this device and
   * network too, and failures of unknown devices no longer count. Never raises.
   */
  proved(email: string, origin: RequestOrigin): Promise<void>;
  /**
   * Called when a code from the account's mailbox was right. The account then knows this device and network too. Never
   * raises.
   */
  verified(email: string, origin: RequestOrigin): Promise<void>;
}

/** The account of a refused request, as far as the limit knows it. */
export interface RefusedAccount {
  readonly user_id?: string | undefined;
  /** Pseudonym of its email address. */
  readonly account?: string;
}

export interface LimitsDeps {
  /** A connection that fails fast. */
  readonly redis: RedisClient;
  readonly keyPrefix: string;
  /** The server's newest secret. */
  readonly secret: () => KeyObject;
  readonly settings: LimitSettings;
  /** Called with each request that a rule refuses. */
  readonly onRefused: (rule: LimitRule, origin: RequestOrigin, of: RefusedAccount) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called if Redis did not answer and the process counted a password or second factor on its own. */
  readonly onInsured: () => void;
}

/** Usual network of one internet connection: an IPv4 address, or a /64 with any number of IPv6 addresses. */
const subscriberPrefix: PrefixLength = { v4: 32, v6: 64 };

/** Number of denials in an answer that count as one question. */
const denialsPerPoint = 500;

const { logIn: logInRow, ...requestRows } = requestLimits;
type RequestRows = typeof requestRows;
type Row = RequestLimitRow & { readonly rule: LimitRule };

/** Calls `make` for each row, and returns the results by the rows' names. */
function ofEachRow<T>(make: (row: Row, name: keyof RequestRows) => T) {
  const made = Object.entries(requestRows).map(([name, row]) => [name, make(row, name as keyof RequestRows)]);
  return Object.fromEntries(made) as Readonly<Record<keyof RequestRows, T>>;
}

type Refuse = (refusal: Refusal, origin: RequestOrigin, of?: RefusedAccount) => never;

/** Returns the function that counts a request for that row, and refuses a request above the limit. */
function countBy({ rule, per, isGivenBack }: Row, limit: Pick<RequestLimit, 'count'>, refuse: Refuse) {
  const count = async (who: string, origin: RequestOrigin, of?: RefusedAccount) => {
    const waitMs = await limit.count(who);
    if (waitMs !== undefined) refuse({ rule, waitMs }, origin, of);
  };
  if (per === 'network') return (origin: RequestOrigin) => count(networkOf(origin.network, subscriberPrefix), origin);
  const isOfAccount = per === 'account' || per === 'e-mail address';
  if (!isOfAccount || !isGivenBack) return (who: string, origin: RequestOrigin) => count(who, origin);
  return (account: CountedAccount, origin: RequestOrigin) =>
    count(countedAs(account, per), origin, { user_id: account._id });
}

function identityOf(email: string, origin: RequestOrigin, holder = heldBy(origin)): LoginIdentity {
  return { emailKey: emailKey(email), holder, prefix: networkOf(origin.network, subscriberPrefix) };
}

/** Returns true if a passkey alone has opened the session. With it, somebody can open one on any device. */
function isByPasskey(session: Pick<VerifiedAccessToken, 'amr'> | undefined): boolean {
  const { amr = [] } = session ?? {};
  return !amr.includes('otp') && (amr.includes('swk') || amr.includes('hwk'));
}

/** Names the device of a session, which the session has made known. */
const heldInSession = ({ device_id }: Pick<VerifiedAccessToken, 'device_id'>) => `session:${device_id}`;

/** Limits passwords. */
function createAttempts(
  logins: LoginLimits,
  refuse: Refuse,
  keys: LimitKeys,
): Pick<Limits, 'logIn' | 'guess' | 'replay'> {
  async function attempt(
    [first, last]: readonly ['check' | 'checkGuess', 'succeed' | 'confirm'],
    identity: LoginIdentity,
    origin: RequestOrigin,
  ): Promise<LoginAttempt> {
    const take = async (step: keyof LoginLimits) => {
      const result = await logins[step](identity);
      const refusal = refusalOf(result);
      if (refusal !== undefined) refuse(refusal, origin, { account: keys.tagOf('account', identity.emailKey) });
      return { isLast: result !== undefined };
    };
    await take(first);
    return {
      fail: () => take('fail'),
      async succeed(half) {
        await take(half?.isAwaitingFactor ? 'confirm' : last);
      },
    };
  }

  return {
    logIn: (email, origin) => attempt(['check', 'succeed'], identityOf(email, origin), origin),
    guess(email, session, origin) {
      const identity = identityOf(email, origin, `session:${session.sid}`);
      const hasPassword = session.amr?.includes('pwd') === true;
      return attempt(['checkGuess', 'confirm'], { ...identity, session: { hasPassword } }, origin);
    },
    replay: (email, origin) => attempt(['checkGuess', 'succeed'], identityOf(email, origin), origin),
  };
}

/**
 * Limits requests (docs/specification/requests.md, "Limits"). If Redis is away, each process counts for itself, so no
 * request is refused or delayed for that reason.
 */
export function createLimits(deps: LimitsDeps): Limits {
  const { redis, keyPrefix, secret, settings, onRefused, now, onInsured } = deps;
  const keys = createLimitKeys(keyPrefix, secret);
  const optionsOf = ({ setting, per, key: name, window: { seconds } }: RequestLimitRow): RequestLimitOptions => {
    const points = settings[setting as keyof LimitSettings];
    return { redis, keys, per: per === 'network' ? 'address' : 'account', name, points, seconds };
  };
  const counters = ofEachRow((row) => (row.isSettled ? createSettledLimit : createRequestLimit)(optionsOf(row)));
  const accountCodes = createCodeLimit({ redis, keys, perDay: settings.CODE_LIMIT_PER_ACCOUNT, now });
  const factors = createFactorLimit({ redis, keys, now, onInsured });
  const networks = createRequestLimit(optionsOf(logInRow));
  const logins = createLoginLimits({ redis, keys, networks, settings, now, onInsured });
  const refuse: Refuse = ({ rule, waitMs }, origin, of = {}) => {
    onRefused(rule, origin, of);
    throw new AppError('ERR-RATE-LIMITED', { retryAfterSeconds: waitMs / 1_000 });
  };

  const after = (step: 'know' | 'register' | 'prove' | 'verify') => async (email: string, origin: RequestOrigin) => {
    await logins[step](identityOf(email, origin));
  };

  return {
    ...(ofEachRow((row, name) => countBy(row, counters[name], refuse)) as CountRequests),
    async requestCode({ email, isVerified, hasAccess, recoveredAt, change }, origin) {
      const refusal = await accountCodes.count({
        ...identityOf(email, origin),
        // Pinned sources have no counts of their own during a change of the email address. The change pins the
        // requester's device and network, and would give them new counts each time.
        hasOwnCounts: isVerified && change === undefined,
        hasAccess,
        recoveredAt,
        userId: change?.userId,
        recipient: change && emailKey(change.to),
      });
      if (refusal !== undefined) refuse(refusal, origin, { account: keys.tagOf('account', emailKey(email)) });
    },
    async revocationsSent(internalService, count) {
      const points = Math.floor(count / denialsPerPoint);
      if (points > 0) await counters.readRevocations.count(internalService, points);
    },
    ...createAttempts(logins, refuse, keys),
    async secondFactor({ account, jkt, session, isGuess }, origin) {
      const holder = session === undefined ? heldBy(origin, jkt) : heldInSession(session);
      const known = { hasSession: session !== undefined, hasOwnTotal: !isByPasskey(session) };
      const times = { recoveredAt: account.recovered_at, passwordChangedAt: account.password_changed_at };
      const identity = { ...identityOf(account.email, origin, holder), ...known, ...times, isGuess };
      const taken = await factors.take(identity);
      if ('waitMs' in taken) refuse({ rule: 'second_factor', ...taken }, origin, { user_id: account._id });
      return taken;
    },
    async completed(email, origin, jkt, hasPassword = false) {
      const identity = identityOf(email, origin, heldBy(origin, jkt));
      await Promise.all([logins[hasPassword ? 'complete' : 'know'](identity), factors.know(identity)]);
    },
    known: after('know'),
    registered: after('register'),
    async moved({ from, to }, session, origin) {
      const holders = [heldBy(origin), `session:${session.sid}`, heldInSession(session)];
      await logins.move({ ...identityOf(to, origin), former: { emailKey: emailKey(from), holders } });
    },
    proved: after('prove'),
    verified: after('verify'),
  };
}
