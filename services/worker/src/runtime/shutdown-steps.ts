import type { ShutdownStep } from '@auth-account/lifecycle';
import type { RedisClient } from '@auth-account/redis';
import type { Logger } from '@auth-account/telemetry';
import type { MongoClient } from 'mongodb';
import type { Poller } from './poller.ts';

interface Closable {
  close(): Promise<unknown>;
}

export interface ShutdownDeps {
  /** Aborts a start that still waits for MongoDB. */
  readonly stopping: AbortController;
  readonly pollers: readonly Poller[];
  /** `close` lets work under way end, `abort` interrupts it. */
  readonly consumers: readonly (Closable & { abort(): void })[];
  readonly queues: readonly Closable[];
  /** Removes the report of the process: processes of a newer version wait for that. */
  readonly removeReport: () => Promise<void>;
  readonly redis: readonly RedisClient[];
  readonly mongo: MongoClient;
  readonly logger: Logger;
}

/** Milliseconds after which a delivery under way is aborted; another worker repeats it. */
const deliveryGraceMs = 2_500;

/**
 * Returns the steps of the worker's shutdown. It takes 7 s at most, even if MongoDB or Redis is away and work that
 * waits for them does not end.
 */
export function shutdownSteps({
  stopping,
  pollers,
  consumers,
  queues,
  removeReport,
  redis,
  mongo,
  logger,
}: ShutdownDeps): ShutdownStep[] {
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
        await Promise.all(queues.map((queue) => queue.close()));
      },
      timeoutMs: 500,
    },
    { name: 'process report', run: removeReport, timeoutMs: 250 },
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

/**
 * Waits for work that is about to end, but `limitMs` at most, because work that hangs while MongoDB or Redis is away
 * must not keep the process from an orderly shutdown. Throws the work's error.
 */
async function endWithin(limitMs: number, work: Promise<unknown>, logger: Logger, what: string): Promise<void> {
  const { promise: expiry, resolve } = Promise.withResolvers<'expired'>();
  const timer = setTimeout(() => resolve('expired'), limitMs);
  const first = await Promise.race([work, expiry]).finally(() => clearTimeout(timer));
  if (first !== 'expired') return;
  work.catch((error: unknown) => logger.debug({ err: error, what }, 'ended late'));
  logger.warn({ what, limitMs }, 'shutdown goes on without waiting any longer');
}
