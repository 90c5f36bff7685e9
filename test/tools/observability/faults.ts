import { newEmail, newSession, password, registerAccount } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import type { TestStack } from '../../support/processes/test-stack.ts';
import { until } from './sign-in-faults.ts';

/** A fault, and the alerts that it must cause. */
export interface Fault {
  readonly name: string;
  readonly alerts: readonly string[];
  /** Causes the fault, and keeps it up until the signal is aborted. */
  readonly induce: (stack: TestStack, enough: AbortSignal) => Promise<void>;
}

const refusingSubscribers: Fault = {
  name: 'one subscriber answers 500, one 410',
  alerts: ['AuthSubscriberParked', 'AuthDeliveriesFailing', 'AuthOutboxOld', 'AuthDeadLetters'],
  induce: (stack, enough) => until(enough, 500, () => registerAccount(stack)),
};

const flood: Fault = {
  name: '60 logins at once, again and again',
  alerts: ['AuthHashesShed', 'AuthAvailabilityBudgetFastBurn'],
  async induce(stack, enough) {
    const client = () => until(enough, 200, () => stack.logIn({ email: newEmail(), password }));
    await Promise.all(Array.from({ length: 60 }, client));
  },
};

const redisGone: Fault = {
  name: 'Redis is killed, and apps go on',
  alerts: ['AuthRedisAway'],
  async induce(stack, enough) {
    const session = await newSession(stack);
    await stack.redis.kill();
    await until(enough, 0, () => stack.listSessions(bearer(session)));
  },
};

const gatewayGone: Fault = {
  name: 'the only push gateway is ended',
  alerts: ['AuthServiceNotReady', 'AuthTargetDown'],
  induce: (stack) => stack.services['push-gateway'].stop(),
};

/** Returns the faults in their order. Redis ends last, because the effects of that hide the effects of other faults. */
export const faultsWith = (signIn: readonly Fault[]): readonly Fault[] => [
  ...[refusingSubscribers, flood, ...signIn],
  ...[gatewayGone, redisGone],
];
