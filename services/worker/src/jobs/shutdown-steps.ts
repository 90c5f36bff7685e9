import type { ShutdownStep } from '@auth-account/lifecycle';
import type { RedisClient } from '@auth-account/redis';
import type { Logger } from '@auth-account/telemetry';
import type { MongoClient } from 'mongodb';
import type { Delivery } from '../delivery/delivery.ts';
import type { Consumer } from '../delivery/event-consumers.ts';
import { endWithin } from './end-within.ts';
import type { Poller } from './poller.ts';

export interface StopDeps {
  /** Ends a start that still waits for MongoDB. */
  readonly stopping: AbortController;
  readonly pollers: readonly Poller[];
  readonly consumers: readonly Consumer[];
  readonly queues: Delivery['queues'];
  readonly redis: readonly RedisClient[];
  readonly mongo: MongoClient;
  readonly logger: Logger;
}

/** What a delivery under way has, in ms, before it is broken off, to be made again by whoever takes the job next. */
const deliveryGraceMs = 2_500;

/** The worker's shutdown: 7 s at most, also where MongoDB or Redis is away and what waits for them does not end. */
export function shutdownSteps({
  stopping,
  pollers,
  consumers,
  queues,
  redis,
  mongo,
  logger,
}: StopDeps): ShutdownStep[] {
  return [
    {
      name: 'relay and reconciliation',
      async run() {
        stopping.abort();
        await endWithin(1_000, Promise.all(pollers.map(({ stop }) => stop())), logger, 'a round');
      },
      timeoutMs: 1_200,
    },
    {
      name: 'consumers',
      async run() {
        const breakOff = setTimeout(() => consumers.map(({ abort }) => abort()), deliveryGraceMs);
        const closed = Promise.all(consumers.map(({ close }) => close()));
        await endWithin(3_500, closed, logger, 'a consumer').finally(() => clearTimeout(breakOff));
      },
      timeoutMs: 3_700,
    },
    {
      name: 'queues',
      async run() {
        await Promise.all(Array.from(queues.values(), (queue) => queue.close()));
      },
      timeoutMs: 500,
    },
    {
      name: 'redis',
      run() {
        for (const connection of redis) connection.disconnect();
      },
      timeoutMs: 100,
    },
    { name: 'mongodb', run: () => mongo.close(), timeoutMs: 1_500 },
  ];
}
