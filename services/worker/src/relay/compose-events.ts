import { randomUUID } from 'node:crypto';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import {
  type Collections,
  createStores,
  type DeadLetterStore,
  type OutboxStore,
  type RunTransaction,
} from '@auth-account/stores';
import type { Logger, Metrics } from '@auth-account/telemetry';
import type { WorkerConfig } from '../config.ts';
import { createDelivery, type Delivery } from '../delivery/delivery.ts';
import { createErrorLog } from '../jobs/error-log.ts';
import { type Backlog, createBacklogGauges, type WorkerMetrics } from '../jobs/metrics.ts';
import { createPoller, type Poller } from '../jobs/poller.ts';
import { createOutboxRelease } from './outbox-release.ts';
import { createRelay } from './relay.ts';

export interface EventsDeps {
  readonly config: WorkerConfig;
  readonly collections: Collections;
  readonly transaction: RunTransaction;
  /** Fails at once where Redis is away. */
  readonly adding: RedisClient;
  /** Waits for Redis. */
  readonly consuming: RedisClient;
  readonly keys: RedisKeys;
  readonly metrics: WorkerMetrics;
  readonly registry: Metrics['registry'];
  readonly logger: Logger;
  readonly now: () => Date;
}

export interface Events extends Pick<Delivery, 'queues' | 'consumers'> {
  readonly relay: Poller;
  /** What needs MongoDB only. */
  readonly pollers: readonly Poller[];
  /** Has all leases of the outbox ended, tried until it is done: Redis may have lost jobs. */
  readonly releaseOutbox: () => void;
}

/** Milliseconds between two counts of the outbox. */
const backlogIntervalMs = 5_000;

/** Milliseconds between two notes of who is configured: while workers of two configurations run, each makes its own. */
const namingIntervalMs = 60_000;

/** No count goes further: that many index keys cost MongoDB some 50 ms. */
const countLimit = 100_000;

function createBacklogCount(outbox: OutboxStore, deadLetters: DeadLetterStore, logger: Logger) {
  let backlog: Backlog | undefined;
  const poller = createPoller({
    async run() {
      backlog = { ...(await outbox.backlog(countLimit)), deadLetters: await deadLetters.counts(countLimit) };
    },
    intervalMs: backlogIntervalMs,
    onError: createErrorLog(logger, 'count of the outbox'),
  });
  return { poller, last: () => backlog };
}

/** Wires the events' way from the outbox to their subscribers. */
export function composeEvents(deps: EventsDeps): Events {
  const { config, collections, transaction, adding, metrics, registry, logger, now } = deps;
  const { outbox, deadLetters, subscribers } = createStores(collections, transaction);
  const backlog = createBacklogCount(outbox, deadLetters, logger);
  const names = config.EVENT_SUBSCRIBERS.map(({ name }) => name);
  createBacklogGauges(registry, names, backlog.last);

  const onError = createErrorLog(logger, 'delivery');
  const { queues, room, consumers, parking, buryFailedJob } = createDelivery({
    ...deps,
    outbox,
    deadLetters,
    subscribers,
    onError,
  });
  const relay = createPoller({
    run: createRelay({
      outbox,
      queues,
      room,
      redis: adding,
      buryFailedJob,
      batch: config.RELAY_BATCH,
      now,
      newLease: randomUUID,
      onClaimed: (rows) => metrics.relayClaims.inc(rows),
    }),
    intervalMs: config.RELAY_INTERVAL_MS,
    onError: createErrorLog(logger, 'relay'),
  });
  const parkedPoller = createPoller({
    run: parking.refresh,
    intervalMs: config.RELAY_INTERVAL_MS,
    onError: createErrorLog(logger, 'look for parked subscribers'),
  });
  const naming = createPoller({
    run: () => subscribers.configure(names, now()),
    intervalMs: namingIntervalMs,
    onError: createErrorLog(logger, 'note of the subscribers'),
  });
  const release = createOutboxRelease({ outbox, now, onReleased: relay.trigger });
  const releasing = createPoller({
    run: release.run,
    intervalMs: config.RELAY_INTERVAL_MS,
    onError: createErrorLog(logger, 'release of the outbox'),
  });
  const pollers = [parkedPoller, naming, releasing, backlog.poller];
  const releaseOutbox = () => {
    release.order();
    releasing.trigger();
  };
  return { queues, consumers, relay, pollers, releaseOutbox };
}
