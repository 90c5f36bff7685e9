import type { AddressInfo } from 'node:net';
import { bareEmail, maxTokenSeconds, readProviders } from '@auth-account/config';
import { type EventChannel, eventChannels } from '@auth-account/contracts/events';
import type { ServiceContext, ServiceParts, ShutdownStep } from '@auth-account/lifecycle';
import { runAndRepeat } from '@auth-account/lifecycle/repeat';
import { type Build, thisBuild } from '@auth-account/lifecycle/this-build';
import { type Admission, type AdmissionDeps, createAdmission } from '@auth-account/lifecycle/upgrade';
import { openEventQueue } from '@auth-account/messaging';
import {
  createProcessReporter,
  type ProcessReporter,
  type ProcessReporterDeps,
  readProcessReports,
  reportIntervalMs,
} from '@auth-account/messaging/process-reports';
import { explainRedisError, failFastOptions, openRedis, type RedisClient, redisKeys } from '@auth-account/redis';
import {
  collectionsOf,
  connectMongo,
  createDatabaseClock,
  createFence,
  createStores,
  createTransactionRunner,
  type DatabaseClock,
  type Fence,
  mongoOptions,
  reportClock,
  type Stores,
  type TransactionHooks,
} from '@auth-account/stores';
import { countHolds, type Logger, withSpan } from '@auth-account/telemetry';
import type { Express } from 'express';
import { MongoClient } from 'mongodb';
import { type AppDeps, createApp } from './app.ts';
import { composeOperations } from './compose/operations.ts';
import { createRegistry, type Registry } from './compose/registry.ts';
import { composeSecurity, type Security, type TestOverrides } from './compose/security.ts';
import { usualWaits, type Waits } from './compose/waits.ts';
import { composeWarmUp } from './compose/warm-up-parts.ts';
import type { ApiConfig, apiConfig } from './config.ts';
import { createHttpServer, type HttpServer, retireMs } from './http/http-server.ts';
import { createHandlers } from './http/operations.ts';
import { blockedPasswordCheck } from './http/validation/body-checks.ts';
import { type ApiMetrics, createApiMetrics } from './runtime/metrics.ts';
import { readinessChecks } from './runtime/readiness.ts';
import { type Connections, closeSteps } from './runtime/shutdown-steps.ts';
import { warmUp } from './runtime/warm-up.ts';
import { createAssertNotDenied } from './security/assert-not-denied.ts';
import type { HeldKeys } from './security/held-keys.ts';

/** The api with the address at which it listens. */
export interface ApiParts extends ServiceParts {
  address(): AddressInfo;
}

/** Overrides for tests. */
export interface ApiTestOverrides extends TestOverrides {
  readonly waits?: Partial<Waits>;
  /** Limit for the warm-up, in milliseconds. 0 leaves it out. */
  readonly warmUpLimitMs?: number;
  readonly build?: Build;
  /** Milliseconds of the waits and looks of an upgrade. */
  readonly upgradeTimes?: Pick<AdmissionDeps, 'stallMs' | 'unknownMs'>;
}

/** Milliseconds for which the last request before a stop may run. Transactions are retried for the same time. */
const lastRequestMs = 5_000;

/** Creates a client that connects when it is first used. */
function openMongo(config: Pick<ApiConfig, 'MONGODB_URI'>): MongoClient {
  return new MongoClient(config.MONGODB_URI, mongoOptions('auth-api', config.MONGODB_URI));
}

function openConnection(config: ApiConfig, logger: Logger, commandTimeoutMs: number): RedisClient {
  const redis = openRedis(config, failFastOptions(commandTimeoutMs));
  redis.on('error', (error) => logger.warn({ err: explainRedisError(error, config) }, 'Redis connection failed'));
  return redis;
}

function openConnections(config: ApiConfig, logger: Logger, waits: Waits): Connections {
  // Events have a connection of their own, because a burst of them must not delay a close command.
  const queueRedis = openConnection(config, logger, waits.redis);
  return {
    mongo: openMongo(config),
    redis: openConnection(config, logger, waits.redis),
    limitRedis: openConnection(config, logger, waits.limits),
    queueRedis,
    queues: openQueues(config, queueRedis, logger),
  };
}

function openQueues(config: ApiConfig, redis: RedisClient, logger: Logger): Connections['queues'] {
  const openQueue = (channel: EventChannel) => {
    const queue = openEventQueue(channel, redis, redisKeys(config.KEY_PREFIX));
    queue.on('error', (error) => logger.warn({ err: error }, 'event queue failed'));
    return [channel, queue] as const;
  };
  return Object.fromEntries(eventChannels.map(openQueue)) as Connections['queues'];
}

/** Wires the api. This is the only place that opens its connections. */
export async function compose(
  context: ServiceContext<typeof apiConfig>,
  overrides: ApiTestOverrides = {},
): Promise<ApiParts> {
  const { config, logger } = context;
  const { hostNow = overrides.now ?? Date.now } = overrides;
  const clock = createDatabaseClock({ host: hostNow, onCorrected: reportClock(logger, context.metrics.setClockAhead) });
  const { now = clock.now, build = thisBuild } = overrides;
  const metrics = createApiMetrics(context.metrics, [...readProviders(config.IDENTITY_PROVIDERS).keys()]);
  // Key files are read first, so that a problem with them is reported before any connection is open.
  const security = await composeSecurity(config, metrics, logger, { ...overrides, now, hostNow });
  const waits = { ...usualWaits, ...overrides.waits };
  const connections = openConnections(config, logger, waits);
  const collections = collectionsOf(connections.mongo.db(config.MONGODB_DATABASE));
  const transaction = createTransactionRunner(connections.mongo, transactionHooks(metrics), waits.transaction);
  const stores = { ...createStores(collections, transaction, () => new Date(now())), transaction };
  const registry = createRegistry({ config, logger, metrics, security, stores, connections, waits, now, hostNow });
  const keys = redisKeys(config.KEY_PREFIX);
  const measured = { now, hostNow, onMeasured: context.metrics.setClockAhead };
  const { reporter, admission } = composePresence(
    { redis: connections.limitRedis, keys, build, ...measured },
    config,
    registry,
    { upgrades: stores.upgrades, logger, ...overrides.upgradeTimes },
  );
  const deps = appDeps(context, metrics, registry, createFence(collections));
  const server = createHttpServer(createApp(deps), { keepAliveSeconds: config.KEEP_ALIVE_SECONDS });
  return serve(context, server, connections, {
    clock,
    heldKeys: registry.heldKeys,
    reporter,
    admission,
    argon2Name: registry.argon2Name,
    warmUpLimitMs: overrides.warmUpLimitMs,
    warmUpParts: () =>
      composeWarmUp({ deps, users: registry.users, readSessions: createReadSessions(connections.mongo, registry) }),
    stop: [
      { name: 'audit log', run: registry.flushAudit, timeoutMs: 100 },
      { name: 'key files and hash threads', run: security.close, timeoutMs: 1_000 },
      { name: 'event publish', run: () => registry.events.idle(), timeoutMs: 1_000 },
    ],
  });
}

function appDeps(
  { config, logger }: ServiceContext<typeof apiConfig>,
  metrics: ApiMetrics,
  registry: Registry,
  fence: Fence,
): AppDeps {
  const { audit, verifyAccessToken, verifyDeviceProof, findInternalService, isBlockedPassword } = registry;
  return {
    ...{ audit, verifyAccessToken, verifyDeviceProof, findInternalService },
    ...{ issuer: config.TOKEN_ISSUER, requestIdMode: config.REQUEST_ID_MODE },
    allowedOrigins: config.ALLOWED_ORIGINS,
    trustedProxyHops: config.TRUST_PROXY_HOPS,
    switches: config,
    validateResponses: config.VALIDATE_RESPONSES,
    logger,
    requestDuration: metrics.requestDuration,
    onMissingKey: (key) => metrics.missingKeys.inc({ key }),
    assertNotDenied: createAssertNotDenied({ ...registry, onFallback: () => metrics.denyListFallbacks.inc() }),
    handlers: createHandlers(composeOperations(registry), registry.publicDocuments, fence),
    bodyChecks: {
      registerAccount: blockedPasswordCheck(isBlockedPassword, 'password'),
      confirmPasswordReset: blockedPasswordCheck(isBlockedPassword, 'new_password'),
      changePassword: blockedPasswordCheck(isBlockedPassword, 'new_password'),
    },
  };
}

/** Creates what an upgrade needs of the process: its report, and the order in which it starts. */
function composePresence(
  reporting: Omit<ProcessReporterDeps, 'service' | 'settings' | 'build'> & { readonly build: Build },
  config: ApiConfig,
  { reportedKeys, refusals }: Pick<Security, 'reportedKeys' | 'refusals'>,
  upgrade: Pick<AdmissionDeps, 'upgrades' | 'logger' | 'stallMs' | 'unknownMs'>,
): { readonly reporter: ProcessReporter; readonly admission: Admission } {
  const { TOKEN_ISSUER: issuer, TOKEN_AUDIENCE: audience, ACCESS_TOKEN_TTL_SECONDS: signs } = config;
  const { redis, keys, build } = reporting;
  const reporter = createProcessReporter({
    ...{ ...reporting, service: 'api' },
    settings: () => ({
      ...{ issuer, audience, token_seconds: { signs, takes: maxTokenSeconds(config) } },
      keys: reportedKeys(),
      refused_by: refusals(),
      rules: {
        verified_email: config.REQUIRE_VERIFIED_EMAIL,
        wrong_passwords_a_day: config.LOGIN_ACCOUNT_FAILURES_PER_DAY,
      },
    }),
  });
  const running = () => readProcessReports(redis, keys);
  return {
    reporter,
    admission: createAdmission({ ...upgrade, service: 'api', build, running, mode: config.VERSION_CHECKS }),
  };
}

function transactionHooks(metrics: ApiMetrics): TransactionHooks {
  return {
    onRetry: (kind) => metrics.transactionRetries.inc({ kind }),
    onHold: countHolds(metrics.sessionHolds),
    onEnd: (outcome) => metrics.transactions.inc({ outcome }),
    inSpan: (run) => withSpan('mongodb.transaction', {}, run),
  };
}

/** Creates a read in a transaction that the metrics do not count. */
function createReadSessions(mongo: MongoClient, { sessions }: Pick<Stores, 'sessions'>) {
  const transaction = createTransactionRunner(mongo);
  const nobody = '00000000-0000-4000-8000-000000000000';
  return () => transaction((session) => sessions.listLive(nobody, session), { isCommitted: async () => true });
}

interface Served {
  readonly clock: DatabaseClock;
  readonly heldKeys: HeldKeys;
  readonly reporter: ProcessReporter;
  readonly admission: Admission;
  readonly argon2Name: string;
  /** Creates the app for the warm-up. */
  readonly warmUpParts: () => Express;
  readonly warmUpLimitMs: number | undefined;
  /** Steps after the server has stopped and before the connections close. */
  readonly stop: readonly ShutdownStep[];
}

/** Returns the parts through which the service's runner starts and stops the server. */
function serve(
  { config, logger }: ServiceContext<typeof apiConfig>,
  server: HttpServer,
  connections: Connections,
  { clock, heldKeys, reporter, admission, argon2Name, warmUpParts, warmUpLimitMs, stop }: Served,
): ApiParts {
  const stopping = new AbortController();
  let address: AddressInfo | undefined;

  return {
    address() {
      if (address === undefined) throw new Error('the api does not listen yet');
      return address;
    },
    readiness: [...readinessChecks({ connections, config, logger }), admission.check],
    async start() {
      const onAway = (error: unknown) => logger.warn({ err: error }, 'MongoDB is away');
      await connectMongo(connections.mongo, stopping.signal, onAway);
      if (stopping.signal.aborted) return;
      await Promise.all([clock.follow(connections.mongo, stopping.signal), heldKeys.follow(stopping.signal)]);
      void runAndRepeat(reporter.write, reportIntervalMs, stopping.signal);
      await admission.admit(stopping.signal);
      if (warmUpLimitMs !== 0) {
        await warmUp({ app: warmUpParts(), logger, signal: stopping.signal, limitMs: warmUpLimitMs });
      }
      if (stopping.signal.aborted) return;
      address = await server.listen(config.API_PORT, config.BIND_ADDRESS && bareEmail(config.BIND_ADDRESS));
      logger.info({ address: address.address, port: address.port, argon2: argon2Name }, 'api listens');
    },
    shutdown: [
      { name: 'start', run: () => stopping.abort(), timeoutMs: 100 },
      { name: 'http server', run: () => server.drain(), timeoutMs: retireMs + lastRequestMs },
      ...stop,
      { name: 'process report', run: reporter.remove, timeoutMs: 250 },
      ...closeSteps(connections),
    ],
  };
}
