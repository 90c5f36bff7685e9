import type { KeyObject } from 'node:crypto';
import { AppError } from '@auth-account/errors';
import { createLimitKeys, type LimitKeys, type RedisClient } from '@auth-account/redis';
import { emailKey } from '@auth-account/stores';
import { addressPrefix, type PrefixLength } from '@auth-account/telemetry';
import type { Audit } from '../audit/audit.ts';
import type { LimitRule } from '../audit/events.ts';
import type { RequestOrigin } from '../request/request-origin.ts';
import { createCodeLimit } from './code-limit.ts';
import type { LimitRules } from './limit-config.ts';
import { createLoginLimits, type LoginIdentity, type Refusal } from './login-limits.ts';
import { createRequestLimit, type RequestLimit } from './request-limit.ts';
import { createSettledLimit } from './settled-limit.ts';

/** The account that a code is asked for, and by whom. */
export interface CodeOrder extends Login {
  /** The mailbox is known to be the account's. */
  readonly isVerified: boolean;
  /** Somebody with a session or the password asks. */
  readonly hasAccess: boolean;
  /** For a code that goes to another address than the account's. */
  readonly change?: {
    /** Whose codes are counted: a change of the address must not begin a new count. */
    readonly userId: string;
    /** Address that the code goes to, or would go to if it were free. */
    readonly to: string;
  };
}

/** The account that is logged in to, and the device that asks. */
export interface Login {
  readonly email: string;
  /** In lower case; undefined if the client sent none. One that we made up instead must never come here. */
  readonly deviceId: string | undefined;
}

/**
 * A try whose password may be hashed. It is counted, and its verdict is final, only when `fail` or `succeed` resolves.
 */
export interface LoginAttempt {
  /** The password was wrong, or there is no such account. */
  fail(): Promise<void>;
  /** The password was right: from now on the account knows this device and address. */
  succeed(): Promise<void>;
}

/** The rate limits, as use cases see them. Each raises `ERR-RATE-LIMITED` with `Retry-After`, and audits that. */
export interface Limits {
  register(origin: RequestOrigin): Promise<void>;
  refresh(origin: RequestOrigin): Promise<void>;
  findInvite(origin: RequestOrigin): Promise<void>;
  createInvite(userId: string, origin: RequestOrigin): Promise<void>;
  /** A change of group: by leaving, or by an invite. */
  move(userId: string, origin: RequestOrigin): Promise<void>;
  /** An export, by somebody who has shown the password. */
  exportAccount(userId: string, origin: RequestOrigin): Promise<void>;
  /** A write that has no other limit. Counted by session, so that a thief of one uses up none of the owner's. */
  write(sessionId: string, origin: RequestOrigin): Promise<void>;
  /** A change of the password, by somebody who has shown the present one. */
  changePassword(userId: string, origin: RequestOrigin): Promise<void>;
  /** An order to delete the account with that address, by somebody who has shown that it is theirs. */
  orderDeletion(email: string, origin: RequestOrigin): Promise<void>;
  /** A request for a code by e-mail, by its network: before anything is read of an account. */
  askForCode(origin: RequestOrigin): Promise<void>;
  /**
   * A code by e-mail. Strangers can't use up the codes of the devices and networks that the account knows. Those to
   * another address also count for that one, over all accounts.
   */
  requestCode(order: CodeOrder, origin: RequestOrigin): Promise<void>;
  /** A code that is confirmed, or asked for again. */
  tryCode(origin: RequestOrigin): Promise<void>;
  /** A question of that sibling about revocations. */
  readRevocations(sibling: string, origin: RequestOrigin): Promise<void>;
  /** Counts denials that an answer to that sibling has: the questions that follow are refused for them. Never raises. */
  revocationsSent(sibling: string, count: number): Promise<void>;
  /**
   * The steps of the attempt raise the error too: of simultaneous tries, only as many as the rules allow get a verdict.
   */
  logIn(login: Login, origin: RequestOrigin): Promise<LoginAttempt>;
  /**
   * Like `logIn`, for a password that a session shows. It does not count for the address's total of logins, and the
   * account learns nothing by it.
   */
  guess(login: Login, origin: RequestOrigin): Promise<LoginAttempt>;
  /** Like `guess`, for a registration that is repeated: the account learns device and address, as by a login. */
  replay(login: Login, origin: RequestOrigin): Promise<LoginAttempt>;
  /**
   * The account has just been created. It knows this device and address, and earlier failures no longer count. Never
   * raises.
   */
  registered(login: Login, origin: RequestOrigin): Promise<void>;
  /**
   * A code from the account's mailbox has set a new password. The account knows this device and address too, and
   * failures of strangers no longer count. Never raises.
   */
  proved(login: Login, origin: RequestOrigin): Promise<void>;
  /** A code from the account's mailbox was right. The account knows this device and address too. Never raises. */
  verified(login: Login, origin: RequestOrigin): Promise<void>;
}

export interface LimitsDeps {
  /** A connection that fails fast. */
  readonly redis: RedisClient;
  readonly keyPrefix: string;
  /** The server's newest secret. */
  readonly secret: () => KeyObject;
  readonly rules: LimitRules;
  readonly audit: Audit;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called if Redis did not answer and the process counted a login itself. */
  readonly onInsured: () => void;
}

/** Usual size of one subscriber's line: an IPv4 address, or a /64 with any number of addresses. */
const subscriberPrefix: PrefixLength = { v4: 32, v6: 64 };

/** Seconds. */
const loginWindow = 15 * 60;
const registerWindow = 60 * 60;
const refreshWindow = 60;
const inviteWindow = 60;
const createInviteWindow = 60 * 60;
const moveWindow = 60 * 60;
const exportWindow = 60 * 60;
const writeWindow = 60;
const passwordChangeWindow = 24 * 60 * 60;
const deletionWindow = 24 * 60 * 60;
const codeWindow = 60 * 60;
const codeTryWindow = 60;
const revocationWindow = 60;
/** Denials of an answer that weigh as much as a question. */
const denialsPerPoint = 500;

/** Creates the counters by network and by account. */
function createCounters(redis: RedisClient, keys: LimitKeys, rules: LimitRules) {
  const shared = { redis, keys };
  const byAddress = (name: string, points: number, seconds: number) =>
    createRequestLimit({ ...shared, name, points, seconds });
  const byAccount = (name: string, points: number, seconds: number) =>
    createRequestLimit({ ...shared, per: 'account', name, points, seconds });
  return {
    registrations: byAddress('register', rules.registerPerAddress, registerWindow),
    refreshes: createSettledLimit({
      ...shared,
      name: 'refresh',
      points: rules.refreshPerAddress,
      seconds: refreshWindow,
    }),
    invites: byAddress('invite', rules.findInvitePerAddress, inviteWindow),
    newInvites: byAccount('create-invite', rules.createInvitePerUser, createInviteWindow),
    moves: byAccount('move', rules.movePerUser, moveWindow),
    exports: byAccount('export', rules.exportPerUser, exportWindow),
    writes: byAccount('write', rules.writePerSession, writeWindow),
    passwordChanges: byAccount('password-change', rules.passwordChangePerUser, passwordChangeWindow),
    deletions: byAccount('deletion', rules.deletionPerUser, deletionWindow),
    codes: byAddress('code', rules.codePerAddress, codeWindow),
    codeTries: byAddress('code-try', rules.codeTryPerAddress, codeTryWindow),
    revocations: byAccount('revocations', rules.revocationsPerSibling, revocationWindow),
    addresses: byAddress('login', rules.login.perAddress, loginWindow),
  };
}

/** Creates the counting of requests, which refuses those past a limit. */
function createCounting(audit: Audit) {
  function refuse({ rule, waitMs }: Refusal, origin: RequestOrigin): never {
    audit({ event: 'limit.exceeded', reason: rule }, origin);
    throw new AppError('ERR-RATE-LIMITED', { retryAfterSeconds: waitMs / 1_000 });
  }

  const byAddress = (limit: Pick<RequestLimit, 'count'>, rule: LimitRule) => async (origin: RequestOrigin) => {
    const waitMs = await limit.count(addressPrefix(origin.address, subscriberPrefix));
    if (waitMs !== undefined) refuse({ rule, waitMs }, origin);
  };

  const byAccount = (limit: RequestLimit, rule: LimitRule) => async (account: string, origin: RequestOrigin) => {
    const waitMs = await limit.count(account);
    if (waitMs !== undefined) refuse({ rule, waitMs }, origin);
  };
  return { refuse, byAddress, byAccount };
}

function identityOf({ email, deviceId }: Login, origin: RequestOrigin): LoginIdentity {
  return { emailKey: emailKey(email), deviceId, prefix: addressPrefix(origin.address, subscriberPrefix) };
}

/**
 * Creates the rate limits (docs/specification/requests.md, "Limits"). While Redis is away they refuse nobody for that,
 * and do not wait.
 */
export function createLimits({ redis, keyPrefix, secret, rules, audit, now, onInsured }: LimitsDeps): Limits {
  const keys = createLimitKeys(keyPrefix, secret);
  const counters = createCounters(redis, keys, rules);
  const accountCodes = createCodeLimit({ redis, keys, perDay: rules.codePerAccount, now });
  const logins = createLoginLimits({ redis, keys, addresses: counters.addresses, rules: rules.login, now, onInsured });
  const { refuse, byAddress, byAccount } = createCounting(audit);

  async function attempt(
    [first, last]: readonly ['check' | 'checkGuess', 'succeed' | 'confirm'],
    login: Login,
    origin: RequestOrigin,
  ): Promise<LoginAttempt> {
    const identity = identityOf(login, origin);
    const take = async (step: keyof typeof logins) => {
      const refusal = await logins[step](identity);
      if (refusal !== undefined) refuse(refusal, origin);
    };
    await take(first);
    return { fail: () => take('fail'), succeed: () => take(last) };
  }

  const countDeletion = byAccount(counters.deletions, 'deletion_account');

  return {
    register: byAddress(counters.registrations, 'register_address'),
    refresh: byAddress(counters.refreshes, 'refresh_address'),
    findInvite: byAddress(counters.invites, 'invite_address'),
    createInvite: byAccount(counters.newInvites, 'invite_account'),
    move: byAccount(counters.moves, 'move_account'),
    exportAccount: byAccount(counters.exports, 'export_account'),
    write: byAccount(counters.writes, 'write_session'),
    changePassword: byAccount(counters.passwordChanges, 'password_account'),
    orderDeletion: (email, origin) => countDeletion(emailKey(email), origin),
    askForCode: byAddress(counters.codes, 'code_address'),
    async requestCode({ isVerified, hasAccess, change, ...login }, origin) {
      const refusal = await accountCodes.count({
        ...identityOf(login, origin),
        // A change would make its own place one that stays, with a new count.
        hasOwnCounts: isVerified && change === undefined,
        hasAccess,
        userId: change?.userId,
        recipient: change && emailKey(change.to),
      });
      if (refusal !== undefined) refuse(refusal, origin);
    },
    tryCode: byAddress(counters.codeTries, 'code_try_address'),
    readRevocations: byAccount(counters.revocations, 'revocation_sibling'),
    async revocationsSent(sibling, count) {
      const points = Math.floor(count / denialsPerPoint);
      if (points > 0) await counters.revocations.count(sibling, points);
    },
    logIn: (login, origin) => attempt(['check', 'succeed'], login, origin),
    guess: (login, origin) => attempt(['checkGuess', 'confirm'], login, origin),
    replay: (login, origin) => attempt(['checkGuess', 'succeed'], login, origin),
    async registered(login, origin) {
      await logins.register(identityOf(login, origin));
    },
    async proved(login, origin) {
      await logins.prove(identityOf(login, origin));
    },
    async verified(login, origin) {
      await logins.verify(identityOf(login, origin));
    },
  };
}
