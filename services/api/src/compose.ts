import type { AddressInfo } from 'node:net';
import { longestTokenSeconds } from '@auth-account/config';
import { registeredTopic } from '@auth-account/contracts';
import type { Check, ServiceContext, ServiceParts, ShutdownStep } from '@auth-account/lifecycle';
import { type EventQueue, openEventQueue } from '@auth-account/messaging';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { failFastOptions, openRedis, type RedisClient, redisKeys } from '@auth-account/redis';
import { collectionsOf, connectMongo, createSessionStore, mongoOptions } from '@auth-account/stores';
import type { Logger } from '@auth-account/telemetry';
import { MongoClient } from 'mongodb';
import { createAnnounce } from './announcements/announce.ts';
import { createIsDenied } from './announcements/announce-again.ts';
import { createEventPublisher } from './announcements/publish-events.ts';
import { createApp } from './app.ts';
import { composeGroups } from './compose/groups.ts';
import { composeGuards } from './compose/guards.ts';
import { composeInvites } from './compose/invites.ts';
import { createApiMetrics } from './compose/metrics.ts';
import { composeSecurity, type TestOverrides } from './compose/security.ts';
import { composeTransaction } from './compose/transaction.ts';
import { composeUseCases } from './compose/use-cases.ts';
import type { ApiConfig, apiConfig } from './config.ts';
import { authHandlers } from './http/auth.routes.ts';
import { groupHandlers } from './http/group.routes.ts';
import { createHttpServer, retireMs } from './http/http-server.ts';
import { inviteHandlers } from './http/invite.routes.ts';
import { keyHandlers } from './http/key.routes.ts';
import { blockedPasswordCheck } from './http/validation/body-checks.ts';
import { createAssertNotDenied } from './security/assert-not-denied.ts';

/** The api with where it listens, once it does. */
export interface ApiParts extends ServiceParts {
  address(): AddressInfo;
}

/** What tests replace. */
export interface ApiTestOverrides extends TestOverrides {
  /** Milliseconds for which a login or refresh waits for its limits where Redis hangs. */
  readonly limitTimeoutMs?: number;
}

interface Connections {
  readonly mongo: MongoClient;
  readonly redis: RedisClient;
  readonly limitRedis: RedisClient;
  readonly queueRedis: RedisClient;
  readonly queue: EventQueue;
}

/** Milliseconds that the last request has which is taken on a stop: for as long a transaction may be tried again. */
const lastRequestMs = 5_000;

/** A client that connects when it is first used. */
export function openMongo(config: Pick<ApiConfig, 'MONGODB_URI'>): MongoClient {
  return new MongoClient(config.MONGODB_URI, mongoOptions('auth-api', config.MONGODB_URI));
}

function openConnection(config: ApiConfig, logger: Logger, commandTimeoutMs?: number): RedisClient {
  const redis = openRedis(config, failFastOptions(commandTimeoutMs));
  redis.on('error', (error) => logger.warn({ err: error }, 'Redis connection'));
  return redis;
}

function openConnections(config: ApiConfig, logger: Logger, { limitTimeoutMs = 250 }: ApiTestOverrides): Connections {
  // A connection of its own for events: a burst of them must not delay a close command.
  const queueRedis = openConnection(config, logger);
  const queue = openEventQueue(registeredTopic, queueRedis, redisKeys(config.KEY_PREFIX));
  queue.on('error', (error) => logger.warn({ err: error }, 'event queue'));
  return {
    mongo: openMongo(config),
    redis: openConnection(config, logger),
    limitRedis: openConnection(config, logger, limitTimeoutMs),
    queueRedis,
    queue,
  };
}

/** Wires the api: the only place that opens its connections. */
export async function compose(
  context: ServiceContext<typeof apiConfig>,
  overrides: ApiTestOverrides = {},
): Promise<ApiParts> {
  const { config, logger, metrics } = context;
  const { now = Date.now } = overrides;
  const apiMetrics = createApiMetrics(metrics);
  // The key files are read first: what is wrong with them should show before anything is open.
  const security = await composeSecurity(config, apiMetrics, logger, overrides);
  const connections = openConnections(config, logger, overrides);
  const { mongo, redis, limitRedis, queue } = connections;
  const keys = redisKeys(config.KEY_PREFIX);

  const eventPublisher = createEventPublisher({ queue, logger, onLeft: () => apiMetrics.eventsLeft.inc() });
  const denyList = createDenyList(redis, keys, denialLifetimeMs(longestTokenSeconds(config)));
  const announce = createAnnounce({
    denyList,
    logger,
    onLost: () => apiMetrics.announcementsLost.inc(),
  });
  const isDenied = createIsDenied(denyList);
  const shared = { config, metrics: apiMetrics, now };
  const guards = composeGuards({ ...shared, logger, redis: limitRedis, secrets: security.serverSecrets });
  const transaction = composeTransaction(mongo, apiMetrics);
  const sessionParts = { mongo, transaction, security, announce, isDenied, publishEvent: eventPublisher.publish };
  const parts = { ...shared, ...guards, ...sessionParts };
  const useCases = composeUseCases(parts);
  const app = createApp({
    requestIdMode: config.REQUEST_ID_MODE,
    trustedProxyHops: config.TRUST_PROXY_HOPS,
    logger,
    audit: guards.audit,
    requestDuration: apiMetrics.requestDuration,
    verifyAccessToken: security.verifyAccessToken,
    assertNotDenied: createAssertNotDenied({
      denyList,
      sessions: createSessionStore(collectionsOf(mongo.db(config.MONGODB_DATABASE))),
      onFallback: () => apiMetrics.denyListFallbacks.inc(),
    }),
    handlers: {
      ...authHandlers(useCases),
      ...groupHandlers(composeGroups(parts)),
      ...inviteHandlers(composeInvites(parts)),
      ...keyHandlers(security.publicKeys),
    },
    bodyChecks: { register: blockedPasswordCheck(security.isBlockedPassword) },
    validateResponses: config.VALIDATE_RESPONSES,
  });
  const server = createHttpServer(app);
  const stopping = new AbortController();
  let address: AddressInfo | undefined;

  return {
    address() {
      if (address === undefined) throw new Error('the api does not listen yet');
      return address;
    },
    readiness: readinessChecks(connections, config),
    async start() {
      await connectMongo(mongo, stopping.signal, (error) => logger.warn({ err: error }, 'MongoDB is away'));
      if (stopping.signal.aborted) return;
      address = await server.listen(config.API_PORT, config.BIND_ADDRESS);
      logger.info({ address: address.address, port: address.port, argon2: security.argon2Name }, 'api listens');
    },
    shutdown: [
      { name: 'start', run: () => stopping.abort(), timeoutMs: 100 },
      { name: 'http server', run: () => server.drain(), timeoutMs: retireMs + lastRequestMs },
      { name: 'audit log', run: guards.flushAudit, timeoutMs: 100 },
      { name: 'key files and hash threads', run: security.close, timeoutMs: 1_000 },
      { name: 'event publish', run: () => eventPublisher.idle(), timeoutMs: 1_000 },
      ...closeSteps(connections),
    ],
  };
}

function readinessChecks({ mongo, redis, limitRedis, queueRedis }: Connections, config: ApiConfig): Check[] {
  return [
    {
      name: 'mongodb',
      async run() {
        await mongo.db(config.MONGODB_DATABASE).command({ ping: 1 });
        return { ok: true };
      },
    },
    {
      // Nothing that the api answers needs Redis: what it misses there, the worker makes good.
      name: 'redis',
      run() {
        const away = [redis, limitRedis, queueRedis].find(({ status }) => status !== 'ready');
        return { ok: true, ...(away && { reason: `connection is ${away.status}` }) };
      },
    },
  ];
}

function closeSteps({ mongo, redis, limitRedis, queueRedis, queue }: Connections): ShutdownStep[] {
  return [
    { name: 'event queue', run: () => queue.close(), timeoutMs: 500 },
    {
      name: 'redis',
      run() {
        for (const each of [redis, limitRedis, queueRedis]) each.disconnect();
      },
      timeoutMs: 500,
    },
    { name: 'mongodb', run: () => mongo.close(), timeoutMs: 1_500 },
  ];
}
