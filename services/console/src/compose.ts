import type { AddressInfo } from 'node:net';
import { bareEmail, maxTokenSeconds } from '@auth-account/config';
import type { ServiceContext, ServiceParts, ShutdownStep } from '@auth-account/lifecycle';
import { runAndRepeat } from '@auth-account/lifecycle/repeat';
import { thisBuild } from '@auth-account/lifecycle/this-build';
import { type ForceLogoutQueue, openForceLogoutQueue } from '@auth-account/messaging';
import { createProcessReporter, type ProcessReporter, reportIntervalMs } from '@auth-account/messaging/process-reports';
import type { Mongo, RedisStore } from '@auth-account/operations';
import { explainRedisError, failFastOptions, openRedis, redisKeys } from '@auth-account/redis';
import {
  collectionsOf,
  connectMongo,
  createDatabaseClock,
  createStores,
  createTransactionRunner,
  type DatabaseClock,
  mongoOptions,
  reportClock,
} from '@auth-account/stores';
import { type AuditSampler, createAuditLog, createAuditSampler, type Logger } from '@auth-account/telemetry';
import { type KeyFileWatch, reportKeys, watchKeys } from '@auth-account/tokens';
import { MongoClient } from 'mongodb';
import { accountRoutes } from './account/account-routes.ts';
import { actionRoutes } from './actions/action-routes.ts';
import { createApp } from './app.ts';
import type { ConsoleConfig, consoleConfig } from './config.ts';
import { describeCookie } from './http/cookies.ts';
import { createHttpServer, type HttpServer } from './http/http-server.ts';
import type { SessionRoute } from './http/mount-routes.ts';
import { ownRoutes } from './http/own-routes.ts';
import { type PageFiles, readPage } from './http/page-files.ts';
import type { Route } from './http/route.ts';
import type { ConsoleDeps } from './runtime/console-deps.ts';
import { createTakeOne } from './runtime/limits.ts';
import { createConsoleMetrics } from './runtime/metrics.ts';
import { readinessChecks } from './runtime/readiness.ts';
import { usingCounts, usingMongo, usingRedis } from './runtime/use-stores.ts';
import { createProvider } from './sign-in/provider.ts';
import { createSeals } from './sign-in/seals.ts';
import { createSessionRecords } from './sign-in/session-records.ts';
import { createSessions } from './sign-in/sessions.ts';
import { systemRoutes } from './system/system-routes.ts';

type Context = ServiceContext<typeof consoleConfig>;

/** The console with the address at which it listens. */
export interface ConsoleParts extends ServiceParts {
  address(): AddressInfo;
  /** Every route, with the role that it needs. */
  readonly routes: readonly Pick<SessionRoute, 'method' | 'path' | 'role' | 'kind'>[];
}

/** Overrides for tests. */
export interface ConsoleTestOverrides {
  /** Clock of sessions, in milliseconds since the epoch. */
  readonly sessionNow?: () => number;
  readonly readPage?: () => Promise<PageFiles>;
  readonly routes?: (deps: ConsoleDeps) => readonly Route[];
  readonly waits?: Waits;
}

/** Milliseconds that others may take to answer. */
interface Waits {
  /** One command to Redis. */
  readonly redis: number;
  /** One request to the OpenID provider. */
  readonly provider: number;
  /** A worker that carries out a forced logout: fewer than a stopping console gives its last requests. */
  readonly logout: number;
}

const defaultWaits: Waits = { redis: 2_000, provider: 5_000, logout: 4_000 };

/** The routes of every view and action. */
const apiRoutes = (deps: ConsoleDeps): readonly Route[] => [
  ...accountRoutes(deps),
  ...systemRoutes(deps),
  ...actionRoutes(deps),
];

/** Sign-ins in an hour from one network, which may be that of all staff. */
const signInsPerHour = 600;

/** Milliseconds for the last requests before a stop. */
const lastRequestMs = 5_000;

/** Creates clients that connect when they are first used. */
function openConnections(config: ConsoleConfig, logger: Logger, { redis: commandMs }: Waits) {
  const { MONGODB_URI: uri, KEY_PREFIX: keyPrefix } = config;
  const redis = openRedis(config, failFastOptions(commandMs));
  redis.on('error', (error) => logger.warn({ err: explainRedisError(error, config) }, 'Redis connection failed'));
  const store: RedisStore = { redis, keys: redisKeys(keyPrefix), keyPrefix };
  return { client: new MongoClient(uri, mongoOptions('auth-console', uri)), store };
}

function openQueue({ redis, keys }: RedisStore): ForceLogoutQueue {
  const queue = openForceLogoutQueue(redis, keys);
  // Errors are ignored here, because the calls themselves report them.
  queue.on('error', () => undefined);
  return queue;
}

function composeMongo(client: MongoClient, database: string, clock: DatabaseClock): Mongo {
  const db = client.db(database);
  const collections = collectionsOf(db);
  const transaction = createTransactionRunner(client);
  const now = () => new Date(clock.now());
  return { db, collections, transaction, stores: createStores(collections, transaction, now), now };
}

/** Wires the sessions of staff. */
function composeSignIn(
  { config, useRedis, logger, metrics }: Omit<ConsoleDeps, 'roleOf'>,
  now: () => number,
  { provider: timeoutMs }: Waits,
) {
  const { CONSOLE_PUBLIC_URL: origin, CONSOLE_SECRETS: secrets, CONSOLE_SESSION_SECONDS: maxSeconds } = config;
  const seals = createSeals({ secrets, origin, now });
  const records = createSessionRecords({ useRedis, seals, maxSeconds, now });
  const provider = createProvider(config, timeoutMs);
  const audit = createAuditLog(logger);
  const sampler = createAuditSampler(audit);
  const most = {
    sign_ins: signInsPerHour,
    lookups: config.CONSOLE_LOOKUPS_PER_HOUR,
    actions: config.CONSOLE_ACTIONS_PER_HOUR,
  };
  return {
    ...{ seals, records, provider, audit, sampler, origin, now },
    sessions: createSessions({ config, provider, records, seals, audit, now }),
    sessionCookie: describeCookie(origin, 'console_session', 'strict'),
    // The provider's page leads back to this one, and a strict cookie would not come with that.
    signInCookie: describeCookie(origin, 'console_sign_in', 'lax'),
    takeOne: createTakeOne({ useRedis, secret: secrets[0] ?? '', most, metrics }),
  };
}

/** Wires the console. This is the only place that opens its connections. */
export async function compose(
  { config, logger, metrics: serviceMetrics }: Context,
  {
    sessionNow = Date.now,
    readPage: read = readPage,
    routes: routesOf = apiRoutes,
    waits = defaultWaits,
  }: ConsoleTestOverrides = {},
): Promise<ConsoleParts> {
  const { setClockAhead, setKeyFileRefused: setRefused } = serviceMetrics;
  // The key file is read first, so that a problem with it shows before any connection is open.
  const { SERVER_KEYS_FILE: keyFile } = config;
  const serverKeys = keyFile === undefined ? undefined : await watchKeys(keyFile, { logger, setRefused });
  const { client, store: redis } = openConnections(config, logger, waits);
  const clock = createDatabaseClock({ host: Date.now, onCorrected: reportClock(logger, setClockAhead) });
  const mongo = composeMongo(client, config.MONGODB_DATABASE, clock);
  const useRedis = usingRedis(redis);
  const stores = {
    ...{ mongo, useMongo: usingMongo(mongo), redis, useRedis, useCounts: usingCounts(useRedis, serverKeys) },
    ...{ config, now: mongo.now, logger, metrics: createConsoleMetrics(serviceMetrics) },
    ...{ queue: openQueue(redis), maxTokenSeconds: () => maxTokenSeconds(config), logoutMs: waits.logout },
  };
  const signIn = composeSignIn(stores, sessionNow, waits);
  const deps: ConsoleDeps = { ...stores, roleOf: signIn.sessions.roleOf };
  const routes: SessionRoute[] = [...ownRoutes({ config, ...signIn }), ...routesOf(deps)];
  const app = createApp({
    ...{ ...signIn, routes, logger, metrics: deps.metrics, readPage: read },
    trustedProxyHops: config.TRUST_PROXY_HOPS,
  });
  const reporter = createProcessReporter({
    ...{ redis: redis.redis, keys: redis.keys, service: 'console', build: thisBuild },
    settings: () => ({ keys: serverKeys === undefined ? {} : { server: reportKeys(serverKeys) } }),
    ...{ now: clock.now, hostNow: Date.now, onMeasured: setClockAhead },
  });
  return serve(deps, {
    server: createHttpServer(app),
    client,
    clock,
    reporter,
    serverKeys,
    routes,
    sampler: signIn.sampler,
  });
}

interface Served extends Pick<ConsoleParts, 'routes'> {
  readonly server: HttpServer;
  readonly client: MongoClient;
  readonly clock: DatabaseClock;
  readonly reporter: ProcessReporter;
  readonly serverKeys: KeyFileWatch | undefined;
  readonly sampler: AuditSampler;
}

/** Returns the parts through which the service's runner starts and stops the server. */
function serve({ config, logger, mongo, redis, queue }: ConsoleDeps, served: Served): ConsoleParts {
  const { server, client, clock, reporter, serverKeys, routes, sampler } = served;
  const stopping = new AbortController();
  let address: AddressInfo | undefined;
  const steps: ShutdownStep[] = [
    { name: 'start', run: () => stopping.abort(), timeoutMs: 100 },
    { name: 'http server', run: () => server.close(lastRequestMs), timeoutMs: lastRequestMs + 500 },
    { name: 'audit log', run: sampler.flush, timeoutMs: 100 },
    { name: 'key file', run: () => serverKeys?.close(), timeoutMs: 100 },
    { name: 'process report', run: reporter.remove, timeoutMs: 250 },
    { name: 'queue', run: () => queue.close(), timeoutMs: 100 },
    { name: 'redis', run: () => redis.redis.disconnect(), timeoutMs: 100 },
    { name: 'mongodb', run: () => client.close(), timeoutMs: 1_500 },
  ];
  return {
    routes,
    address() {
      if (address === undefined) throw new Error('the console does not listen yet');
      return address;
    },
    readiness: readinessChecks(mongo.db, redis.redis),
    async start() {
      await connectMongo(client, stopping.signal, (error) => logger.warn({ err: error }, 'MongoDB is away'));
      if (stopping.signal.aborted) return;
      await clock.follow(client, stopping.signal);
      void runAndRepeat(reporter.write, reportIntervalMs, stopping.signal);
      address = await server.listen(config.CONSOLE_PORT, config.BIND_ADDRESS && bareEmail(config.BIND_ADDRESS));
      logger.info({ address: address.address, port: address.port }, 'console listens');
    },
    shutdown: steps,
  };
}
