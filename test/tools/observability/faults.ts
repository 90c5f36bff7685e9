import { setTimeout as pause } from 'node:timers/promises';
import { newEmail, newSession, password, registerAccount } from '../../support/accounts.ts';
import { bearer } from '../../support/api-driver.ts';
import type { TestStack } from '../../support/test-stack.ts';

/** A fault, and the alerts that it must cause. */
export interface Fault {
  readonly name: string;
  readonly alerts: readonly string[];
  /** Causes the fault, and keeps it up until the signal is aborted. */
  readonly induce: (stack: TestStack, enough: AbortSignal) => Promise<void>;
}

async function repeat(enough: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  while (!enough.aborted) await work();
}

const refusingSubscribers: Fault = {
  name: 'one subscriber answers 500, one 410',
  alerts: ['AuthSubscriberParked', 'AuthDeliveriesFailing', 'AuthOutboxOld', 'AuthDeadLetters'],
  induce: (stack, enough) =>
    repeat(enough, async () => {
      await registerAccount(stack);
      await pause(500);
    }),
};

const flood: Fault = {
  name: '60 logins at once, again and again',
  alerts: ['AuthHashesShed', 'AuthAvailabilityBudgetFastBurn'],
  async induce(stack, enough) {
    const client = () =>
      repeat(enough, async () => {
        await stack.logIn({ email: newEmail(), password });
        await pause(200);
      });
    await Promise.all(Array.from({ length: 60 }, client));
  },
};

const redisGone: Fault = {
  name: 'Redis is killed, and apps go on',
  alerts: ['AuthRedisAway'],
  async induce(stack, enough) {
    const session = await newSession(stack);
    await stack.redis.kill();
    await repeat(enough, () => stack.listSessions(bearer(session)));
  },
};

const gatewayGone: Fault = {
  name: 'the only push gateway is ended',
  alerts: ['AuthServiceNotReady', 'AuthTargetDown'],
  induce: (stack) => stack.services['push-gateway'].stop(),
};

/** The faults in their order. Redis ends last, because the effects of that hide the effects of other faults. */
export const faults: readonly Fault[] = [refusingSubscribers, flood, gatewayGone, redisGone];
