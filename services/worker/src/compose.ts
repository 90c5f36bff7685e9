import { longestTokenSeconds } from '@auth-account/config';
import type { Check, ServiceContext, ServiceParts } from '@auth-account/lifecycle';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging';
import {
  failFastOptions,
  openRedis,
  type RedisClient,
  type RedisSettings,
  redisKeys,
  workerOptions,
} from '@auth-account/redis';
import {
  collectionsOf,
  connectMongo,
  createSessionStore,
  mongoOptions,
  type RunTransaction,
  runTransaction,
  type TransactionOutcome,
} from '@auth-account/stores';
import type { Logger } from '@auth-account/telemetry';
import { type Db, MongoClient } from 'mongodb';
import type { WorkerConfig, workerConfig } from './config.ts';
import { createReconcile } from './deny-list/reconcile.ts';
import { createForceLogoutConsumer } from './force-logout/force-logout-consumer.ts';
import { createErrorLog } from './jobs/error-log.ts';
import { createWorkerMetrics } from './jobs/metrics.ts';
import { createPoller } from './jobs/poller.ts';
import { checkRedis } from './jobs/redis-readiness.ts';
import { shutdownSteps } from './jobs/shutdown-steps.ts';
import { composeEvents } from './relay/compose-events.ts';

type Context = ServiceContext<typeof workerConfig>;

function openConnections(config: WorkerConfig, logger: Logger) {
  const onError = createErrorLog(logger, 'Redis connection');
  const open = (settings: RedisSettings) => {
    const redis = openRedis(config, settings);
    redis.on('error', (error) => onError(error));
    return redis;
  };
  return {
    mongo: new MongoClient(config.MONGODB_URI, mongoOptions('auth-worker', config.MONGODB_URI)),
    denying: open(failFastOptions()),
    // A connection of its own: a burst of events must not delay a close command.
    adding: open(failFastOptions()),
    consuming: open(workerOptions()),
  };
}

function whenReady(redis: RedisClient, run: () => void): void {
  if (redis.status === 'ready') run();
  else redis.once('ready', run);
}

function readinessChecks(db: Db, redis: RedisClient): Check[] {
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

/** Wires the worker: the only place that opens its connections. */
export function compose({ config, logger, metrics: serviceMetrics }: Context): ServiceParts {
  const { mongo, denying, adding, consuming } = openConnections(config, logger);
  const keys = redisKeys(config.KEY_PREFIX);
  const db = mongo.db(config.MONGODB_DATABASE);
  const collections = collectionsOf(db);
  const now = () => new Date();
  const lifetimeMs = denialLifetimeMs(longestTokenSeconds(config));

  const webhooks = config.EVENT_SUBSCRIBERS.filter(({ kind }) => kind === 'webhook').map(({ name }) => name);
  const metrics = createWorkerMetrics(serviceMetrics, webhooks);
  const onRetry = (kind: 'work' | 'commit') => metrics.transactionRetries.inc({ kind });
  const onEnd = (outcome: TransactionOutcome) => metrics.transactions.inc({ outcome });
  const transaction: RunTransaction = (work, options) => runTransaction(mongo, work, { ...options, onRetry, onEnd });
  const { registry } = serviceMetrics;
  const common = { config, collections, transaction, consuming, keys, metrics, logger, now };
  const {
    queues,
    relay,
    pollers: eventPollers,
    releaseOutbox,
    ...events
  } = composeEvents({ ...common, adding, registry });
  const denyList = createDenyList(denying, keys, lifetimeMs);
  const reconcile = createPoller({
    run: createReconcile({
      sessions: createSessionStore(collections),
      denyList,
      lifetimeMs,
      now,
      onRebuild() {
        metrics.rebuilds.inc();
        releaseOutbox();
      },
      onFound: (sessions) => metrics.reconciled.inc(sessions),
    }),
    intervalMs: config.DENY_LIST_INTERVAL_MS,
    onError: createErrorLog(logger, 'reconciliation of the deny list'),
  });
  denying.on('ready', reconcile.trigger);
  adding.on('ready', relay.trigger);
  const commands = { mongo, collections, denyList, consuming, keys, metrics, logger, now };
  const consumers = [...events.consumers, createForceLogoutConsumer(commands)];
  const pollers = [relay, reconcile, ...eventPollers];
  const stopping = new AbortController();

  return {
    readiness: readinessChecks(db, denying),
    async start() {
      await connectMongo(mongo, stopping.signal, createErrorLog(logger, 'MongoDB connection'));
      if (stopping.signal.aborted) return;
      for (const consumer of consumers) consumer.start();
      whenReady(adding, relay.start);
      whenReady(denying, reconcile.start);
      for (const poller of eventPollers) poller.start();
      logger.info({ subscribers: [...queues.keys()] }, 'worker runs');
    },
    stop: shutdownSteps({ stopping, pollers, consumers, queues, redis: [denying, adding, consuming], mongo, logger }),
  };
}
