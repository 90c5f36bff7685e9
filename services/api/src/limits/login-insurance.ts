import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { LimitRule } from '../audit/events.ts';
import { waitOf } from './address-limit.ts';
import type { LoginRules } from './limit-rules.ts';
import type { LoginSteps } from './login-steps.ts';
import type { Refusal } from './refusal.ts';

const sourceWindowSeconds = 15 * 60;
const daySeconds = 86_400;

/**
 * What limits guessing while Redis is away: coarser rules, which each process counts in its memory. It knows no device
 * and no network, so that past the day's failures of an account everybody waits.
 */
export function createLoginInsurance(rules: Pick<LoginRules, 'freeFailures' | 'accountFailuresPerDay'>): LoginSteps {
  const sources = new RateLimiterMemory({ points: 2 * rules.freeFailures, duration: sourceWindowSeconds });
  const accounts = new RateLimiterMemory({ points: rules.accountFailuresPerDay, duration: daySeconds });

  async function look(limiter: RateLimiterMemory, key: string, rule: LimitRule): Promise<Refusal | undefined> {
    const result = await limiter.get(key);
    return result !== null && result.remainingPoints <= 0 ? { rule, waitMs: result.msBeforeNext } : undefined;
  }
  const check: LoginSteps['check'] = async ({ emailKey, prefix }) =>
    (await look(sources, sourceOf(emailKey, prefix), 'login_source')) ??
    (await look(accounts, emailKey, 'login_account_day'));

  return {
    check,
    async register({ emailKey, prefix }) {
      await Promise.all([accounts.delete(emailKey), sources.delete(sourceOf(emailKey, prefix))]);
      return;
    },
    async fail(identity) {
      const { emailKey, prefix } = identity;
      const refusal = await check(identity);
      if (refusal !== undefined) return refusal;
      const waitMs = await waitOf(sources.consume(sourceOf(emailKey, prefix)));
      if (waitMs !== undefined) return { rule: 'login_source', waitMs };
      const accountWaitMs = await waitOf(accounts.consume(emailKey));
      return accountWaitMs === undefined ? undefined : { rule: 'login_account_day', waitMs: accountWaitMs };
    },
    async succeed(identity) {
      const refusal = await check(identity);
      if (refusal === undefined) await sources.delete(sourceOf(identity.emailKey, identity.prefix));
      return refusal;
    },
  };
}

function sourceOf(emailKey: string, prefix: string): string {
  return JSON.stringify([emailKey, prefix]);
}
