import { setTimeout as delay } from 'node:timers/promises';
import type { ShutdownStep } from '@auth-account/lifecycle';
import type { RedisClient, Subscription } from '@auth-account/redis';

export interface ShutdownDeps {
  /** Closes the open streams. */
  readonly drain: { run(): Promise<void> };
  readonly app: { close(): void };
  readonly expiry: { stop(): void };
  readonly pings: { stop(): void };
  readonly reconcile: { stop(): Promise<void> };
  readonly redis: RedisClient;
  readonly subscriber: Pick<Subscription, 'stop'>;
  readonly subscription: RedisClient;
  readonly messageSubscription: Pick<Subscription, 'stop'>;
  readonly messages: RedisClient;
  readonly drainSeconds: number;
}

/** Milliseconds for the last close frames to reach the clients before their connections are cut. */
const lingerMs = 100;

/**
 * Returns the steps of the gateway's shutdown. With the ops server's 1.5 s they fit into the 9 s that a shutdown may
 * take.
 */
export function shutdownSteps({
  drain,
  app,
  expiry,
  pings,
  reconcile,
  redis,
  subscriber,
  subscription,
  messageSubscription,
  messages,
  drainSeconds,
}: ShutdownDeps): ShutdownStep[] {
  return [
    { name: 'streams', run: drain.run, timeoutMs: drainSeconds * 1_000 + 1_000 },
    {
      name: 'push server',
      async run() {
        await delay(lingerMs);
        expiry.stop();
        pings.stop();
        app.close();
      },
      timeoutMs: 300,
    },
    {
      name: 'redis',
      async run() {
        // The round's command to Redis fails with the connection, so the round ends within this step.
        const stopped = reconcile.stop();
        subscriber.stop();
        subscription.disconnect();
        messageSubscription.stop();
        messages.disconnect();
        redis.disconnect();
        await stopped;
      },
      timeoutMs: 500,
    },
  ];
}
