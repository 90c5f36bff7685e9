import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { registeredTopic } from '@auth-account/contracts';
import type { ServiceContext, ServiceParts } from '@auth-account/lifecycle';
import {
  createCommandPublisher,
  createDenyList,
  denialLifetimeMs,
  failFastOptions,
  openEventQueue,
  redisKeys,
} from '@auth-account/messaging';
import {
  collectionsOf,
  createGroupStore,
  createInviteStore,
  createOutboxStore,
  createSessionStore,
  createUserStore,
  mongoOptions,
  runTransaction,
  type TransactionOptions,
} from '@auth-account/stores';
import type { Logger } from '@auth-account/telemetry';
import { createAccessTokenSigner, createAccessTokenVerifier, createRefreshTokens, loadKeyFile } from '@auth-account/tokens';
import { Redis } from 'ioredis';
import { type ClientSession, MongoClient } from 'mongodb';
import { createApp } from './app.ts';
import type { ApiConfig, apiConfig } from './config.ts';
import { createHandOver } from './events/hand-over.ts';
import { authHandlers } from './http/auth.routes.ts';
import { createHttpServer, drain, listen } from './http-server.ts';
import { systemIds } from './ids.ts';
import { createApiMetrics } from './metrics.ts';
import { createAnnounceRevocations } from './push/announce-revocations.ts';
import { loadArgon2 } from './security/argon2-binding.ts';
import { createHashGate, type HashGate } from './security/hash-gate.ts';
import { createPasswordHasher } from './security/password-hasher.ts';
import { createIssueTokens } from './usecases/issue-tokens.ts';
import { createLogIn } from './usecases/log-in.ts';
import { createLogOut } from './usecases/log-out.ts';
import { createRefresh } from './usecases/refresh.ts';
import { createRegister } from './usecases/register.ts';

/** The api with where it listens, once it does. */
export interface ApiParts extends ServiceParts {
  address(): AddressInfo;
}

/** A client that connects when it is first used. */
export function openMongo(config: Pick<ApiConfig, 'MONGODB_URI'>): MongoClient {
  return new MongoClient(config.MONGODB_URI, mongoOptions('auth-api'));
}

function openRedis(url: string, logger: Logger): Redis {
  const redis = new Redis(url, failFastOptions());
  redis.on('error', (error) => logger.warn({ err: error }, 'Redis connection'));
  return redis;
}

/** Wires the api: the only place that opens its connections. */
export async function compose({ config, logger, metrics }: ServiceContext<typeof apiConfig>): Promise<ApiParts> {
  const [accessKeys, refreshKeys] = await Promise.all([
    loadKeyFile(config.ACCESS_TOKEN_KEYS_FILE),
    loadKeyFile(config.REFRESH_TOKEN_KEYS_FILE),
  ]);
  const mongo = openMongo(config);
  const redis = openRedis(config.REDIS_URL, logger);
  // A connection of its own: a burst of events must not delay a close command.
  const queueRedis = openRedis(config.REDIS_URL, logger);
  const keys = redisKeys(config.KEY_PREFIX);
  const queue = openEventQueue(registeredTopic, queueRedis, keys);
  queue.on('error', (error) => logger.warn({ err: error }, 'event queue'));

  let gate: HashGate | undefined;
  const apiMetrics = createApiMetrics(metrics, () => gate?.waiting ?? 0);
  gate = createHashGate({
    slots: config.HASH_CONCURRENCY || availableParallelism(),
    queueLimit: config.HASH_QUEUE_LIMIT,
    waitMs: config.HASH_QUEUE_TIMEOUT_MS,
    onShed: (reason) => apiMetrics.hashesShed.inc({ reason }),
  });
  const argon2 = await loadArgon2((error) => logger.warn({ err: error }, 'the faster Argon2 binding does not load'));
  const hasher = await createPasswordHasher({
    argon2,
    gate,
    cost: { memoryKib: config.ARGON2_MEMORY_KIB, passes: config.ARGON2_PASSES, lanes: config.ARGON2_LANES },
  });

  const access = {
    keys: accessKeys,
    algorithm: config.ACCESS_TOKEN_ALGORITHM,
    issuer: config.TOKEN_ISSUER,
    audience: config.TOKEN_AUDIENCE,
  };
  const accessTokenTtlSeconds = config.ACCESS_TOKEN_TTL_SECONDS;
  const refreshTokens = createRefreshTokens(refreshKeys);
  const now = () => new Date();
  const issueTokens = createIssueTokens({
    signAccessToken: await createAccessTokenSigner({ ...access, ttlSeconds: accessTokenTtlSeconds }),
    refreshTokens,
    accessTokenTtlSeconds,
    pushPublicUrl: config.PUSH_PUBLIC_URL,
    now,
  });

  const collections = collectionsOf(mongo.db(config.MONGODB_DATABASE));
  const sessions = createSessionStore(collections);
  const users = createUserStore(collections);
  const transaction = <T>(work: (session: ClientSession) => Promise<T>, options: TransactionOptions) =>
    runTransaction(mongo, work, { ...options, onRetry: (kind) => apiMetrics.transactionRetries.inc({ kind }) });
  const announce = createAnnounceRevocations({
    denyList: createDenyList(redis, keys, denialLifetimeMs(accessTokenTtlSeconds)),
    publish: createCommandPublisher(redis, keys),
    logger,
    onLost: () => apiMetrics.announcementsLost.inc(),
  });
  const handOver = createHandOver({ queue, logger, onLeft: () => apiMetrics.eventsLeft.inc() });
  const lifetime = {
    idleSeconds: config.REFRESH_TOKEN_IDLE_SECONDS,
    absoluteSeconds: config.REFRESH_TOKEN_ABSOLUTE_SECONDS,
  };
  const retryWindowMs = config.REFRESH_RETRY_WINDOW * 1_000;
  const ids = systemIds;

  const app = createApp({
    requestIdMode: config.REQUEST_ID_MODE,
    logger,
    requestDuration: apiMetrics.requestDuration,
    verifyAccessToken: await createAccessTokenVerifier(access),
    handlers: authHandlers({
      register: createRegister({
        users,
        groups: createGroupStore(collections),
        invites: createInviteStore(collections),
        outbox: createOutboxStore(collections),
        transaction,
        hasher,
        beginHandOver: handOver.begin,
        ids,
        now,
      }),
      logIn: createLogIn({ users, sessions, transaction, hasher, refreshTokens, issueTokens, announce, lifetime, ids, now }),
      refresh: createRefresh({ sessions, refreshTokens, issueTokens, announce, lifetime, retryWindowMs, now }),
      logOut: createLogOut({ sessions, refreshTokens, announce, now }),
    }),
  });
  const server = createHttpServer(app);
  let address: AddressInfo | undefined;

  return {
    address() {
      if (address === undefined) throw new Error('the api does not listen yet');
      return address;
    },
    readiness: [
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
        run: () => (redis.status === 'ready' ? { ok: true } : { ok: true, reason: `connection is ${redis.status}` }),
      },
    ],
    async start() {
      address = await listen(server, config.API_PORT, config.BIND_ADDRESS);
      logger.info({ address: address.address, port: address.port, argon2: argon2.name }, 'api listens');
    },
    stop: [
      { name: 'http server', run: () => drain(server), timeoutMs: 6_000 },
      { name: 'event hand-over', run: () => handOver.idle(), timeoutMs: 1_000 },
      { name: 'event queue', run: () => queue.close(), timeoutMs: 500 },
      {
        name: 'redis',
        run() {
          redis.disconnect();
          queueRedis.disconnect();
        },
        timeoutMs: 500,
      },
      { name: 'mongodb', run: () => mongo.close(), timeoutMs: 1_500 },
    ],
  };
}
