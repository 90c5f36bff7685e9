import { randomUUID } from 'node:crypto';
import type { Check, ServiceContext, ServiceParts } from '@auth-account/lifecycle';
import {
  createCommandPublisher,
  createDenyList,
  denialLifetimeMs,
  failFastOptions,
  redisKeys,
  workerOptions,
} from '@auth-account/messaging';
import {
  collectionsOf,
  connectMongo,
  createOutboxStore,
  createSessionStore,
  mongoOptions,
  type OutboxStore,
} from '@auth-account/stores';
import type { Logger } from '@auth-account/telemetry';
import { Redis } from 'ioredis';
import { type Db, MongoClient } from 'mongodb';
import { createForceLogoutConsumer } from './commands/force-logout-consumer.ts';
import type { WorkerConfig, workerConfig } from './config.ts';
import { createDelivery } from './deliver/delivery.ts';
import { createErrorLog } from './error-log.ts';
import { type Backlog, createWorkerMetrics } from './metrics.ts';
import { createReconcile } from './reconcile.ts';
import { checkRedis } from './redis-readiness.ts';
import { createRelay } from './relay.ts';
import { createRepeater } from './repeater.ts';
import { stopSteps } from './stop-steps.ts';

type Context = ServiceContext<typeof workerConfig>;

/** Milliseconds between two counts of the outbox. */
const backlogIntervalMs = 5_000;

function openConnections(config: WorkerConfig, logger: Logger) {
  const onError = createErrorLog(logger, 'Redis connection');
  const open = (options: ReturnType<typeof workerOptions>) => {
    const redis = new Redis(config.REDIS_URL, options);
    redis.on('error', (error) => onError(error));
    return redis;
  };
  return {
    mongo: new MongoClient(config.MONGODB_URI, mongoOptions('auth-worker')),
    denying: open(failFastOptions()),
    // A connection of its own: a burst of events must not delay a close command.
    adding: open(failFastOptions()),
    consuming: open(workerOptions()),
  };
}

function whenReady(redis: Redis, run: () => void): void {
  if (redis.status === 'ready') run();
  else redis.once('ready', run);
}

function readinessChecks(db: Db, redis: Redis): Check[] {
  return [
    {
      name: 'mongodb',
      async run() {
        await db.command({ ping: 1 });
        return { ok: true };
      },
    },
    { name: 'redis', run: () => checkRedis(redis) },
  ];
}

function createBacklogCount(outbox: OutboxStore, logger: Logger) {
  let backlog: Backlog | undefined;
  const repeater = createRepeater({
    async run() {
      backlog = await outbox.backlog();
    },
    intervalMs: backlogIntervalMs,
    onError: createErrorLog(logger, 'count of the outbox'),
  });
  return { repeater, last: () => backlog };
}

/** Wires the worker: the only place that opens its connections. */
export function compose({ config, logger, metrics: serviceMetrics }: Context): ServiceParts {
  const { mongo, denying, adding, consuming } = openConnections(config, logger);
  const keys = redisKeys(config.KEY_PREFIX);
  const db = mongo.db(config.MONGODB_DATABASE);
  const collections = collectionsOf(db);
  const outbox = createOutboxStore(collections);
  const now = () => new Date();
  const lifetimeMs = denialLifetimeMs(config.ACCESS_TOKEN_TTL_SECONDS);

  const webhooks = config.EVENT_SUBSCRIBERS.filter(({ kind }) => kind === 'webhook').map(({ name }) => name);
  const backlogCount = createBacklogCount(outbox, logger);
  const metrics = createWorkerMetrics(serviceMetrics, webhooks, backlogCount.last);

  const onError = createErrorLog(logger, 'delivery');
  const delivery = createDelivery({ config, adding, consuming, keys, outbox, metrics, logger, onError, now });
  const relay = createRepeater({
    run: createRelay({
      outbox,
      queues: delivery.queues,
      assertReachable: () => adding.ping(),
      batch: config.RELAY_BATCH,
      now,
      newLease: randomUUID,
      onClaimed: (rows) => metrics.relayClaims.inc(rows),
    }),
    intervalMs: config.RELAY_INTERVAL_MS,
    onError: createErrorLog(logger, 'relay'),
  });
  const denyList = createDenyList(denying, keys, lifetimeMs);
  const reconcile = createRepeater({
    run: createReconcile({
      sessions: createSessionStore(collections),
      denyList,
      publish: createCommandPublisher(denying, keys),
      lifetimeMs,
      now,
      async onRebuild() {
        metrics.rebuilds.inc();
        await outbox.release(now());
        relay.trigger();
      },
      onFound: (sessions) => metrics.reconciled.inc(sessions),
    }),
    intervalMs: config.DENY_LIST_INTERVAL_MS,
    onError: createErrorLog(logger, 'reconciliation of the deny list'),
  });
  denying.on('ready', reconcile.trigger);
  adding.on('ready', relay.trigger);
  const commands = { mongo, collections, denyList, consuming, keys, metrics, logger, now };
  const { queues } = delivery;
  const consumers = [...delivery.consumers, createForceLogoutConsumer(commands)];
  const repeaters = [relay, reconcile, backlogCount.repeater];
  const stopping = new AbortController();

  return {
    readiness: readinessChecks(db, denying),
    async start() {
      await connectMongo(mongo, stopping.signal, createErrorLog(logger, 'MongoDB connection'));
      if (stopping.signal.aborted) return;
      for (const consumer of consumers) consumer.start();
      whenReady(adding, relay.start);
      whenReady(denying, reconcile.start);
      backlogCount.repeater.start();
      logger.info({ subscribers: [...queues.keys()] }, 'worker runs');
    },
    stop: stopSteps({ stopping, repeaters, consumers, queues, redis: [denying, adding, consuming], mongo, logger }),
  };
}
