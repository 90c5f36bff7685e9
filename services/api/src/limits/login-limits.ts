import type { RedisClient } from '@auth-account/redis';
import type { LimitRule } from '../audit/events.ts';
import type { AddressLimit } from './address-limit.ts';
import type { LimitKeys } from './limit-keys.ts';
import type { LoginRules } from './limit-rules.ts';
import { createLoginInsurance } from './login-insurance.ts';
import { loginScript } from './login-script.ts';
import type { LoginIdentity, LoginSteps } from './login-steps.ts';
import type { Refusal } from './refusal.ts';

export interface LoginLimitsDeps {
  /** A connection that fails fast. */
  readonly redis: RedisClient;
  readonly keys: LimitKeys;
  readonly addresses: AddressLimit;
  readonly rules: LoginRules;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Redis did not answer; the process counted for itself. */
  readonly onInsured: (error: unknown) => void;
}

const dayMs = 86_400_000;
/** As long as a session can live: whoever logs in once in that time stays known. */
const knownMs = 180 * dayMs;
/** Devices and networks that an account knows; past it the one unseen for longest is forgotten. */
const knownLimit = 20;
/** After this long without a failure a delay is forgotten, where it is not longer itself. */
const forgetMs = 3_600_000;

type LoginScript = (keyCount: number, ...args: (string | number)[]) => Promise<[rule: LimitRule | '', waitMs: number]>;

/** The steps of a login, and the first step of a guess by another way. */
export interface LoginLimits extends LoginSteps {
  /** As `check`, but it counts for no address's total of logins. */
  checkGuess(identity: LoginIdentity): Promise<Refusal | undefined>;
}

/**
 * Makes the limits on guessing passwords (docs/decisions.md, "Guessing"; NIST SP 800-63B-4, section 3.2.2). Each step is
 * one round trip to Redis.
 */
export function createLoginLimits(deps: LoginLimitsDeps): LoginLimits {
  const { redis, keys, addresses, rules, now, onInsured } = deps;
  const insurance = createLoginInsurance(rules);
  redis.defineCommand('judgeLogin', { lua: loginScript });
  const judgeLogin = (redis as unknown as { judgeLogin: LoginScript }).judgeLogin.bind(redis);

  async function judge(step: keyof LoginSteps, identity: LoginIdentity): Promise<Refusal | undefined> {
    const { emailKey, deviceId, prefix } = identity;
    const account = keys.tagOf('account', emailKey);
    const device = keys.tagOf('account-device', emailKey, deviceId);
    const network = keys.tagOf('account-address', emailKey, prefix);
    const owed = [device, network, account].flatMap((tag) => [
      keys.nameOf(`login-delay:${tag}`),
      keys.nameOf(`login-failed:${tag}`),
    ]);
    const names = [addresses.keyOf(prefix), keys.nameOf(`login-known:${account}`), ...owed];
    const [rule, waitMs] = await judgeLogin(
      names.length,
      ...names,
      ...[step, now(), device, network, knownMs, knownLimit, rules.perAddress, dayMs],
      ...[rules.knownFailuresPerDay, rules.accountFailuresPerDay],
      ...[rules.freeFailures, rules.longestDelaySeconds * 1_000],
      ...[rules.accountFreeFailures, rules.accountLongestDelaySeconds * 1_000, forgetMs],
    );
    return rule === '' ? undefined : { rule, waitMs };
  }

  const take = (step: keyof LoginSteps) => (identity: LoginIdentity) =>
    judge(step, identity).catch((error: unknown) => {
      onInsured(error);
      return insurance[step](identity);
    });
  const checkGuess = take('check');

  return {
    async check(identity) {
      const { prefix } = identity;
      const isRefused = addresses.refusedFor(prefix) > 0;
      // Sent together, in this order: the script sees what the first has counted.
      const [addressWaitMs, refusal] = await Promise.all([
        addresses.count(prefix),
        isRefused ? undefined : checkGuess(identity),
      ]);
      return addressWaitMs === undefined ? refusal : { rule: 'login_address', waitMs: addressWaitMs };
    },
    checkGuess,
    fail: take('fail'),
    succeed: take('succeed'),
    register: take('register'),
  };
}
