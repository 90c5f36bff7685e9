import type { Check } from '@auth-account/lifecycle';
import type { DenyList } from '@auth-account/messaging/deny-list';
import type { RedisClient, Subscription } from '@auth-account/redis';

export interface ReadinessDeps {
  readonly redis: Pick<RedisClient, 'status'>;
  readonly subscriber: Pick<Subscription, 'isSubscribed'>;
  readonly messageSubscription: Pick<Subscription, 'isSubscribed'>;
  readonly denyList: Pick<DenyList, 'isComplete'>;
  /** Number of open streams. */
  readonly openStreams: () => number;
  readonly maxStreams: number;
}

/**
 * A gateway that refuses every upgrade is not ready, so that load balancers try another gateway. Its streams stay open.
 */
export function createReadiness(deps: ReadinessDeps): Check[] {
  const { redis, subscriber, messageSubscription, denyList, openStreams, maxStreams } = deps;
  return [
    {
      name: 'redis',
      run() {
        if (redis.status !== 'ready') return { ok: false, reason: `connection is ${redis.status}` };
        return subscriber.isSubscribed() ? { ok: true } : { ok: false, reason: 'not subscribed to commands' };
      },
    },
    {
      name: 'deny list',
      async run() {
        return (await denyList.isComplete())
          ? { ok: true }
          : { ok: false, reason: 'not complete: the worker writes it' };
      },
    },
    {
      name: 'streams',
      run: () => (openStreams() < maxStreams ? { ok: true } : { ok: false, reason: 'no room: see MAX_STREAMS' }),
    },
    {
      // This is only a warning, because messages are hints that may be lost, and another gateway would do no better.
      name: 'messages',
      run: () =>
        messageSubscription.isSubscribed() ? { ok: true } : { ok: true, reason: 'not subscribed to messages' },
    },
  ];
}
