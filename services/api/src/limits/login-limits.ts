import { type LimitKeys, ownTotal, type RedisClient, sharedTotal } from '@auth-account/redis';
import { accountLruLimit } from './account-lru.ts';
import type { LimitRule, LimitSettings } from './limits-table.ts';
import { createNamesOf, type LoginIdentity } from './login-names.ts';
import { loginScript } from './login-script.ts';
import { createMemoryCounts, type MemoryCounts } from './memory-counts.ts';
import type { RequestLimit } from './request-limit.ts';

/** One limit that has been reached. */
export interface Refusal {
  readonly rule: LimitRule;
  /** Milliseconds until a new try can be admitted. */
  readonly waitMs: number;
}

/** A counted failure after which this device or network has no further try in the account's total. */
export interface LastFailure {
  readonly isLast: true;
}

/**
 * The steps of a login attempt. Each step returns the refusal if a limit has been reached, and never rejects.
 *
 * The step after the hash checks the limits again, so that of simultaneous attempts no more get a verdict than the
 * limits allow. The other attempts learn nothing about their password.
 */
export interface LoginSteps {
  /** Called before the hash. Counts the attempt for the network's total of logins. */
  check(identity: LoginIdentity): Promise<Refusal | undefined>;
  /** Counts the failure when the password was wrong or there is no such account. */
  fail(identity: LoginIdentity): Promise<Refusal | LastFailure | undefined>;
  /**
   * Called when the password was right. The account then knows this device and network, and their failures are
   * forgotten. If the device has shown the password before, so are all wrong verdicts.
   */
  succeed(identity: LoginIdentity): Promise<Refusal | undefined>;
  /** Like `succeed`, for a login without the password. No wrong verdicts are forgotten. */
  know(identity: LoginIdentity): Promise<Refusal | undefined>;
  /** Like `know`, for a login whose password was right in an earlier step. */
  complete(identity: LoginIdentity): Promise<Refusal | undefined>;
  /**
   * Like `succeed`, for a password that is sent with a session, or that a second factor must follow. The account learns
   * no device or network from it.
   */
  confirm(identity: LoginIdentity): Promise<Refusal | undefined>;
  /**
   * Called when the account has been created. It then knows this device and network, and they are pinned. Earlier
   * failures at its email address were no guesses at its secrets, and are forgotten.
   */
  register(identity: LoginIdentity): Promise<Refusal | undefined>;
  /**
   * Like `register`, for the new email address of an account. The total of wrong verdicts goes on: a change of the
   * address takes no password, so a thief could begin them anew.
   */
  move(identity: LoginIdentity): Promise<Refusal | undefined>;
  /**
   * Called when a code from the account's mailbox has set a new password. The account then knows this device and
   * network too, and they are pinned. Their failures and those of all unknown devices were no guesses at this password,
   * and are forgotten.
   */
  prove(identity: LoginIdentity): Promise<Refusal | undefined>;
  /**
   * Called when a code from the account's mailbox was right. The account then knows this device and network too, and
   * they are pinned.
   */
  verify(identity: LoginIdentity): Promise<Refusal | undefined>;
}

/** Returns the refusal of a step, if there is one. */
export function refusalOf(result: Refusal | LastFailure | undefined): Refusal | undefined {
  return result !== undefined && 'rule' in result ? result : undefined;
}

/** Limits on guessing passwords. */
export type LoginSettings = Pick<LimitSettings, Extract<keyof LimitSettings, `LOGIN_${string}`>>;

export interface LoginLimitsDeps {
  /** A connection that fails fast. */
  readonly redis: RedisClient;
  readonly keys: LimitKeys;
  readonly networks: RequestLimit;
  readonly settings: LoginSettings;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called if Redis did not answer and the process counted the attempt on its own. */
  readonly onInsured: (error: unknown) => void;
  /** Limit for the accounts for which failures of unknown devices are kept. */
  readonly accountLru?: number | undefined;
}

export const dayMs = 86_400_000;
/** The longest life of a session. A source stays known if it logs in once within that time. */
export const knownMs = 180 * dayMs;
/**
 * Limit for the devices and networks that an account knows. Above the limit, the device or network that was not seen
 * for longest is forgotten.
 */
const knownLimit = 20;
/**
 * Limit for the pinned devices and networks of an account. Registrations and proofs of the mailbox pin them, and logins
 * never push them out.
 */
const pinnedLimit = 5;
/** Milliseconds without a failure after which a delay is forgotten, unless the delay itself is longer. */
const forgetMs = 3_600_000;

type LoginScript = (
  keyCount: number,
  ...args: (string | number)[]
) => Promise<[rule: LimitRule | '', waitMs: number, isLast?: 0 | 1]>;

/** The steps of a login, and the first step of a guess outside a login. */
export interface LoginLimits extends LoginSteps {
  /** Like `check`, but does not count for the network's total of logins. */
  checkGuess(identity: LoginIdentity): Promise<Refusal | undefined>;
}

type LoginStep = keyof LoginLimits;
type InsuredStep = (identity: LoginIdentity) => Promise<Refusal | undefined>;

/**
 * Limits the guessing of passwords (docs/specification/login-and-tokens.md, "Wrong passwords"; NIST SP 800-63B-4,
 * section 3.2.2). Each step is one round trip to Redis.
 */
export function createLoginLimits(deps: LoginLimitsDeps): LoginLimits {
  const { redis, keys, networks, settings, now, onInsured, accountLru = accountLruLimit } = deps;
  const insurance = createLoginInsurance(settings);
  redis.defineCommand('judgeLogin', { lua: loginScript });
  const judgeLogin = (redis as unknown as { judgeLogin: LoginScript }).judgeLogin.bind(redis);

  const namesOf = createNamesOf(keys, networks);

  async function judge(step: LoginStep, identity: LoginIdentity): Promise<Refusal | LastFailure | undefined> {
    const { session } = identity;
    const { names, device, network, account, kept } = namesOf(identity);
    const [rule, waitMs, isLast] = await judgeLogin(
      names.length,
      ...names,
      ...[step, now(), device, network, knownMs, knownLimit, settings.LOGIN_LIMIT_PER_ADDRESS, dayMs],
      ...[settings.LOGIN_KNOWN_FAILURES_PER_DAY, settings.LOGIN_ACCOUNT_FAILURES_PER_DAY],
      ...[settings.LOGIN_FREE_FAILURES, settings.LOGIN_LONGEST_DELAY_SECONDS * 1_000],
      ...[settings.LOGIN_ACCOUNT_FREE_FAILURES, settings.LOGIN_ACCOUNT_LONGEST_DELAY_SECONDS * 1_000],
      ...[forgetMs, networks.windowMs],
      ...[pinnedLimit, account, accountLru],
      ...[session === undefined ? 0 : 1, session?.hasPassword ? 1 : 0, sharedTotal, ownTotal],
      ...kept,
    );
    if (rule === 'login_address') networks.refuse(identity.prefix, waitMs);
    if (rule !== '') return { rule, waitMs };
    return isLast === 1 ? { isLast: true } : undefined;
  }

  const judgeOrInsure = (step: LoginStep, insured: InsuredStep) => (identity: LoginIdentity) =>
    judge(step, identity).catch((error: unknown) => {
      onInsured(error);
      return insured(identity);
    });
  const take = (step: Exclude<LoginStep, 'fail'>, insured: InsuredStep) => {
    const run = judgeOrInsure(step, insured);
    return async (identity: LoginIdentity) => refusalOf(await run(identity));
  };
  const checkGuess = take('checkGuess', insurance.check);
  const countAndCheck = take('check', async (identity) => {
    const { count, endsInMs } = networks.countHere(identity.prefix, 1);
    if (count <= settings.LOGIN_LIMIT_PER_ADDRESS) return insurance.check(identity);
    networks.refuse(identity.prefix, endsInMs);
    return { rule: 'login_address', waitMs: endsInMs };
  });

  return {
    async check(identity) {
      const { prefix } = identity;
      if (networks.refusedFor(prefix) === 0) return countAndCheck(identity);
      const waitMs = await networks.count(prefix);
      return waitMs === undefined ? checkGuess(identity) : { rule: 'login_address', waitMs };
    },
    checkGuess,
    fail: judgeOrInsure('fail', insurance.fail),
    succeed: take('succeed', insurance.succeed),
    know: take('know', insurance.succeed),
    complete: take('complete', insurance.succeed),
    register: take('register', insurance.register),
    move: take('move', insurance.move),
    prove: take('prove', insurance.prove),
    confirm: take('confirm', insurance.confirm),
    verify: take('verify', insurance.verify),
  };
}

const sourceWindowSeconds = 15 * 60;
const daySeconds = 86_400;

/**
 * Limits the guessing of passwords while Redis is away. The rules are coarser, and each process counts in its memory.
 * They know no device and no network, so once an account has reached its daily limit of failures, every client waits.
 */
function createLoginInsurance(settings: LoginSettings): Readonly<Record<keyof LoginSteps, InsuredStep>> {
  const sources = createMemoryCounts(sourceWindowSeconds);
  const accounts = createMemoryCounts(daySeconds);

  function look(counts: MemoryCounts, key: string, max: number, rule: LimitRule): Refusal | undefined {
    const { count = 0, endsInMs: waitMs = 0 } = counts.find(key) ?? {};
    return count >= max ? { rule, waitMs } : undefined;
  }
  const check: InsuredStep = async ({ emailKey, prefix }) =>
    look(sources, sourceOf(emailKey, prefix), 2 * settings.LOGIN_FREE_FAILURES, 'login_source') ??
    look(accounts, emailKey, settings.LOGIN_ACCOUNT_FAILURES_PER_DAY, 'login_account_day');

  const forget: InsuredStep = async ({ emailKey, prefix }) => {
    accounts.delete(emailKey);
    sources.delete(sourceOf(emailKey, prefix));
    return;
  };
  const succeed: InsuredStep = async (identity) => {
    const refusal = await check(identity);
    if (refusal === undefined) sources.delete(sourceOf(identity.emailKey, identity.prefix));
    return refusal;
  };

  return {
    check,
    succeed,
    know: succeed,
    complete: succeed,
    confirm: succeed,
    register: forget,
    move: forget,
    prove: forget,
    verify: async () => undefined,
    async fail(identity) {
      const { emailKey, prefix } = identity;
      const refusal = await check(identity);
      if (refusal !== undefined) return refusal;
      sources.add(sourceOf(emailKey, prefix));
      accounts.add(emailKey);
      return;
    },
  };
}

function sourceOf(emailKey: string, prefix: string): string {
  return JSON.stringify([emailKey, prefix]);
}
