import { randomUUID } from 'node:crypto';
import { maxTokenSeconds, readProviders } from '@auth-account/config';
import type { ServiceContext, ServiceParts } from '@auth-account/lifecycle';
import { runAndRepeat } from '@auth-account/lifecycle/repeat';
import { type Build, thisBuild } from '@auth-account/lifecycle/this-build';
import { createAdmission } from '@auth-account/lifecycle/upgrade';
import { createDenyList, type DenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import {
  createProcessReporter,
  createRefusalNotes,
  type ProcessReporterDeps,
  type RefusalNotes,
  readProcessReports,
  reportIntervalMs,
} from '@auth-account/messaging/process-reports';
import {
  explainRedisError,
  failFastOptions,
  openRedis,
  type RedisClient,
  type RedisKeys,
  type RedisSettings,
  redisKeys,
  workerOptions,
} from '@auth-account/redis';
import {
  collectionsOf,
  connectMongo,
  createDatabaseClock,
  createStores,
  createTransactionRunner,
  mongoOptions,
  type RunTransaction,
  reportClock,
  type Stores,
} from '@auth-account/stores';
import { countHolds, type Logger, type Metrics } from '@auth-account/telemetry';
import {
  createEmailChangeTokens,
  createEmailCodes,
  createRemovalStopTokens,
  createSealedSecrets,
  type KeyFileWatch,
  readSecret,
  reportKeys,
  watchKeys,
} from '@auth-account/tokens';
import { MongoClient } from 'mongodb';
import { createDelivery, type MailParts } from './compose/delivery.ts';
import type { WorkerConfig, workerConfig } from './config.ts';
import { createReconcile } from './deny-list/reconcile.ts';
import { createErasure } from './erasure/create-erasure.ts';
import { createForceLogoutConsumer } from './force-logout/force-logout-consumer.ts';
import { loadMailTemplates } from './mail/mail-templates.ts';
import { createOutboxBacklog } from './relay/outbox-backlog.ts';
import { createOutboxRelease } from './relay/outbox-release.ts';
import { createRelay } from './relay/relay.ts';
import { createRevocations } from './revocations/create-revocations.ts';
import { createErrorLog } from './runtime/error-log.ts';
import { createBacklogGauges, createWorkerMetrics, type WorkerMetrics } from './runtime/metrics.ts';
import { createPoller, type Poller } from './runtime/poller.ts';
import { createReadiness } from './runtime/readiness.ts';
import { shutdownSteps } from './runtime/shutdown-steps.ts';
import { createFactorPollers } from './second-factor/factor-pollers.ts';

type Context = ServiceContext<typeof workerConfig>;

/** Overrides for tests. */
export interface WorkerTestOverrides {
  /** The host's clock, in milliseconds since the epoch. */
  readonly hostNow?: () => number;
  readonly build?: Build;
}

/** Parts that the functions below share. */
interface Shared {
  readonly config: WorkerConfig;
  readonly stores: Stores;
  readonly transaction: RunTransaction;
  /** Connection that fails at once while Redis is away. */
  readonly adding: RedisClient;
  /** Connection that waits for Redis. */
  readonly consuming: RedisClient;
  readonly keys: RedisKeys;
  readonly metrics: WorkerMetrics;
  readonly refusals: RefusalNotes;
  readonly registry: Metrics['registry'];
  readonly logger: Logger;
  readonly now: () => Date;
}

/**
 * Milliseconds between two writes of the configured subscribers. Workers with different subscribers overwrite each
 * other's lists.
 */
const namingIntervalMs = 60_000;

function openConnections(
  config: WorkerConfig,
  logger: Logger,
  host: () => number,
  { setClockAhead }: Pick<Metrics, 'setClockAhead'>,
) {
  const onError = createErrorLog(logger, 'Redis connection');
  const open = (settings: RedisSettings) => {
    const redis = openRedis(config, settings);
    redis.on('error', (error) => onError(explainRedisError(error, config)));
    return redis;
  };
  return {
    mongo: new MongoClient(config.MONGODB_URI, mongoOptions('auth-worker', config.MONGODB_URI)),
    clock: createDatabaseClock({ host, onCorrected: reportClock(logger, setClockAhead) }),
    denying: open(failFastOptions()),
    // Events have a separate connection, because a burst of them must not delay a close command.
    adding: open(failFastOptions()),
    consuming: open(workerOptions()),
  };
}

function composeTransaction(mongo: MongoClient, metrics: WorkerMetrics): RunTransaction {
  return createTransactionRunner(mongo, {
    onRetry: (kind) => metrics.transactionRetries.inc({ kind }),
    onHold: countHolds(metrics.sessionHolds),
    onEnd: (outcome) => metrics.transactions.inc({ outcome }),
  });
}

function whenReady(redis: RedisClient, run: () => void): void {
  if (redis.status === 'ready') run();
  else redis.once('ready', run);
}

/**
 * Wires the path of events from the outbox to their subscribers. Except for the relay, the pollers need only MongoDB.
 */
async function composeEvents(shared: Shared, mail: MailParts) {
  const { config, stores, metrics, registry, logger, now } = shared;
  const { outbox, deadLetters, subscribers } = stores;
  const intervalMs = config.RELAY_INTERVAL_MS;
  const names = config.EVENT_SUBSCRIBERS.map(({ name }) => name);
  const backlog = createOutboxBacklog({ outbox, deadLetters, onError: createErrorLog(logger, 'count of the outbox') });
  createBacklogGauges(registry, names, backlog.last);

  const delivery = await createDelivery({
    ...shared,
    mail,
    onError: createErrorLog(logger, 'delivery'),
  });
  const relay = createPoller({
    run: createRelay({
      ...delivery,
      outbox,
      batch: config.RELAY_BATCH,
      now,
      newLease: randomUUID,
      onClaimed: (rows) => metrics.relayClaims.inc(rows),
      onExpired: (subscriber) => metrics.expired.inc({ subscriber }),
    }),
    intervalMs,
    onError: createErrorLog(logger, 'relay'),
  });
  const suspended = createPoller({
    run: delivery.suspension.refresh,
    intervalMs,
    onError: createErrorLog(logger, 'read of the suspended subscribers'),
  });
  const naming = createPoller({
    run: () => subscribers.configure(delivery.subscribers, now()),
    intervalMs: namingIntervalMs,
    onError: createErrorLog(logger, 'note of the subscribers'),
  });
  const release = createOutboxRelease({ outbox, now, onReleased: relay.trigger });
  const releasing = createPoller({
    run: release.run,
    intervalMs,
    onError: createErrorLog(logger, 'release of the outbox'),
  });
  return {
    delivery,
    relay,
    pollers: [suspended, naming, releasing, backlog.poller],
    releaseOutbox() {
      release.order();
      releasing.trigger();
    },
  };
}

function composeReconcile(shared: Shared, denyList: DenyList, lifetimeMs: number, releaseOutbox: () => void): Poller {
  const { config, stores, metrics, logger, now } = shared;
  return createPoller({
    run: createReconcile({
      sessions: stores.sessions,
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
}

/** Wires the pollers that need sealed secrets. They need only MongoDB. */
function composeSealedPollers(shared: Shared, denyList: DenyList, serverKeys: KeyFileWatch): Poller[] {
  const kids = () => reportKeys(serverKeys).takes;
  const parts = { ...shared, denyList, sealedSecrets: createSealedSecrets(serverKeys), kids };
  return [...createFactorPollers(parts), ...createRevocations(parts)];
}

/** Creates what an upgrade needs of the process: its report, and the order in which it starts. */
function composePresence(
  { config, stores, logger, refusals }: Shared,
  build: Build,
  serverKeys: KeyFileWatch,
  reporting: Omit<ProcessReporterDeps, 'service' | 'settings' | 'build'>,
) {
  const upgrade = { service: 'worker', build, upgrades: stores.upgrades, mode: config.VERSION_CHECKS, logger } as const;
  const settings = () => ({ keys: { server: reportKeys(serverKeys) }, refused_by: refusals.report() });
  return {
    reporter: createProcessReporter({ ...reporting, service: 'worker', build, settings }),
    admission: createAdmission({ ...upgrade, running: () => readProcessReports(reporting.redis, reporting.keys) }),
  };
}

/** Wires the worker. This is the only place that opens its connections. */
export async function compose(
  { config, logger, metrics: serviceMetrics }: Context,
  { hostNow = Date.now, build = thisBuild }: WorkerTestOverrides = {},
): Promise<ServiceParts> {
  // Keys and templates are read first, so that a problem with them shows before any connection is open.
  const { setKeyFileRefused: setRefused } = serviceMetrics;
  const serverKeys = await watchKeys(config.SERVER_KEYS_FILE, { check: createEmailCodes, logger, setRefused });
  const mail = {
    renderMail: await loadMailTemplates(config.MAIL_TEMPLATES_DIR),
    emailCodes: createEmailCodes(serverKeys),
    emailChangeTokens: createEmailChangeTokens(serverKeys),
    removalStopTokens: createRemovalStopTokens(serverKeys),
  };
  const { mongo, clock, denying, adding, consuming } = openConnections(config, logger, hostNow, serviceMetrics);
  const [keys, db] = [redisKeys(config.KEY_PREFIX), mongo.db(config.MONGODB_DATABASE)];
  const delivered = config.EVENT_SUBSCRIBERS.filter(({ kind }) => kind !== 'queue').map(({ name }) => name);
  const metrics = createWorkerMetrics(serviceMetrics, delivered, [...readProviders(config.IDENTITY_PROVIDERS).keys()]);
  const transaction = composeTransaction(mongo, metrics);
  const now = () => new Date(clock.now());
  const stores = createStores(collectionsOf(db), transaction, now);
  const shared: Shared = {
    ...{ config, stores, transaction, adding, consuming, keys, metrics, logger },
    refusals: createRefusalNotes(clock.now),
    registry: serviceMetrics.registry,
    now,
  };

  const { delivery, relay, pollers: eventPollers, releaseOutbox } = await composeEvents(shared, mail);
  const lifetimeMs = denialLifetimeMs(maxTokenSeconds(config));
  const denyList = createDenyList(denying, keys, lifetimeMs);
  const reconcile = composeReconcile(shared, denyList, lifetimeMs, releaseOutbox);
  const consumers = [...delivery.consumers, createForceLogoutConsumer({ ...shared, denyList })];
  const secrets = () => serverKeys.current().keys.map(readSecret);
  const { erasing, counting } = createErasure({ ...shared, denyList, lifetimeMs, redis: denying, secrets });
  const lonePollers = [counting, ...composeSealedPollers(shared, denyList, serverKeys)];
  denying.on('ready', reconcile.trigger);
  adding.on('ready', relay.trigger);
  const stopping = new AbortController();
  const reporting = { redis: denying, keys, now: clock.now, hostNow, onMeasured: serviceMetrics.setClockAhead };
  const { reporter, admission } = composePresence(shared, build, serverKeys, reporting);
  return {
    readiness: [...createReadiness(db, denying), admission.check],
    async start() {
      await connectMongo(mongo, stopping.signal, createErrorLog(logger, 'MongoDB connection'));
      if (stopping.signal.aborted) return;
      await clock.follow(mongo, stopping.signal);
      void runAndRepeat(reporter.write, reportIntervalMs, stopping.signal);
      await admission.admit(stopping.signal);
      if (stopping.signal.aborted) return;
      for (const consumer of consumers) consumer.start();
      whenReady(adding, relay.start);
      whenReady(denying, reconcile.start);
      for (const { start } of erasing) whenReady(denying, start);
      for (const poller of [...eventPollers, ...lonePollers]) poller.start();
      logger.info({ subscribers: config.EVENT_SUBSCRIBERS.map(({ name }) => name) }, 'worker runs');
    },
    shutdown: [
      { name: 'key files', run: () => serverKeys.close(), timeoutMs: 100 },
      ...shutdownSteps({
        stopping,
        pollers: [relay, reconcile, ...erasing, ...lonePollers, ...eventPollers],
        consumers,
        queues: delivery.queues.map(({ queue }) => queue),
        removeReport: reporter.remove,
        redis: [denying, adding, consuming],
        mongo,
        logger,
      }),
    ],
  };
}
