import { hostname } from 'node:os';
import { bareEmail, maxTokenSeconds } from '@auth-account/config';
import type { ServiceContext, ServiceParts } from '@auth-account/lifecycle';
import { runAndRepeat } from '@auth-account/lifecycle/repeat';
import { thisBuild } from '@auth-account/lifecycle/this-build';
import { createCloseRecorder } from '@auth-account/messaging/close-records';
import { createCommandPublisher, createStreamNumbers } from '@auth-account/messaging/commands';
import { createDenyList, type DenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import {
  createProcessReporter,
  type ProcessReporter,
  type ReportedSettings,
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
  subscriberOptions,
} from '@auth-account/redis';
import {
  type AuditSampler,
  createAuditLog,
  createAuditSampler,
  type Logger,
  type Metrics,
} from '@auth-account/telemetry';
import { reportKeys } from '@auth-account/tokens';
import { createCachedVerifier } from '@auth-account/verifier/access-token';
import { createPushApp, type PushApp } from './app.ts';
import { createReconcile } from './commands/reconcile.ts';
import { createSubscriber } from './commands/subscriber.ts';
import type { PushGatewayConfig, pushGatewayConfig } from './config.ts';
import { createAskRedis } from './handshake/ask-redis.ts';
import { createAuditRefusal } from './handshake/audit-refusal.ts';
import { createLimitHandshakes } from './handshake/limit-handshakes.ts';
import { createReauthenticate } from './handshake/reauthenticate.ts';
import { createUpgrade, type UpgradeDeps } from './handshake/upgrade.ts';
import { watchPublicKeys } from './handshake/watch-public-keys.ts';
import { createMessageSubscription } from './messages/deliver-messages.ts';
import { createHandleFrame } from './messages/handle-frame.ts';
import { createPushMetrics, type PushMetrics } from './runtime/metrics.ts';
import { createReadiness } from './runtime/readiness.ts';
import { shutdownSteps } from './runtime/shutdown-steps.ts';
import { closeConnection } from './streams/connection.ts';
import { type ConnectionRegistry, createConnectionRegistry } from './streams/connection-registry.ts';
import { createDrain } from './streams/drain.ts';
import { createExpirySweep, type ExpirySweep } from './streams/expiry-sweep.ts';
import { createSocketOpener } from './streams/open-socket.ts';
import { createPingWheel } from './streams/ping-wheel.ts';
import { createStreamLifecycle } from './streams/stream-lifecycle.ts';

/** The gateway, with its address once it listens. */
export interface PushGatewayParts extends ServiceParts {
  address(): { readonly address: string; readonly port: number };
}

/** Overrides for tests. */
export interface TestOverrides {
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Milliseconds between two checks of the key file. */
  readonly keyFileIntervalMs?: number;
  /** Milliseconds that Redis may take to answer a command. */
  readonly redisTimeoutMs?: number | undefined;
}

function openConnections(config: PushGatewayConfig, logger: Logger, { redisTimeoutMs }: TestOverrides) {
  const open = (settings: RedisSettings, purpose: string) => {
    const redis = openRedis(config, settings);
    redis.on('error', (error) => logger.warn({ err: explainRedisError(error, config), purpose }, 'Redis connection'));
    return redis;
  };
  return {
    redis: open(failFastOptions(redisTimeoutMs), 'commands'),
    subscription: open(subscriberOptions(), 'subscription'),
    // Messages have their own connection, because a flood of them must neither delay commands nor break the commands'
    // connection.
    messages: open(subscriberOptions(), 'messages'),
  };
}

async function openVerifier(
  config: PushGatewayConfig,
  logger: Logger,
  metrics: PushMetrics & Pick<Metrics, 'setKeyFileRefused'>,
  { now = Date.now, keyFileIntervalMs }: TestOverrides,
) {
  const watched = { logger, setRefused: metrics.setKeyFileRefused, intervalMs: keyFileIntervalMs };
  const keys = await watchPublicKeys(config, watched);
  const { TOKEN_ISSUER: issuer, TOKEN_AUDIENCE: audience } = config;
  const verifyAccessToken = await createCachedVerifier({
    ...{ keys, issuer, audience, ttlSeconds: maxTokenSeconds(config), now },
    maxEntries: config.TOKEN_CACHE_ENTRIES,
    onLookup: (result) => metrics.tokenLookups.inc({ result }),
    onVerdict: (result) => metrics.accessTokens.inc({ result }),
  });
  const settings = (): ReportedSettings => ({
    ...{ issuer, audience, token_seconds: { takes: maxTokenSeconds(config) } },
    keys: { access: { takes: reportKeys(keys).takes } },
  });
  return { verifyAccessToken, settings, closeKeyFile: keys.close };
}

interface AppParts {
  readonly config: PushGatewayConfig;
  readonly redis: RedisClient;
  readonly keys: RedisKeys;
  readonly denyList: DenyList;
  readonly registry: ConnectionRegistry;
  readonly expiry: ExpirySweep;
  readonly streams: ReturnType<typeof createStreamLifecycle>;
  readonly sampler: AuditSampler;
  readonly verifyAccessToken: UpgradeDeps['verifyAccessToken'];
  readonly isDraining: () => boolean;
  readonly metrics: PushMetrics;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Creates the server, with the handshake and the handling of clients' frames. */
function composeApp({ config, redis, keys, denyList, sampler, streams, ...shared }: AppParts): PushApp {
  const opener = createSocketOpener();
  const auditRefusal = createAuditRefusal({ sampler, metrics: shared.metrics });
  return createPushApp({
    opener,
    upgrade: createUpgrade({
      ...shared,
      askRedis: createAskRedis({ denyList, takeStreamNumbers: createStreamNumbers(redis, keys) }),
      openSocket: opener.open,
      allowedOrigins: config.ALLOWED_ORIGINS,
      maxStreams: config.MAX_STREAMS,
      maxStreamsPerGroup: config.MAX_STREAMS_PER_GROUP,
      onOpen: streams.onOpen,
      auditRefusal,
      limitHandshakes: createLimitHandshakes({ limit: config.HANDSHAKE_LIMIT_PER_ADDRESS, sampler, now: shared.now }),
      trustedProxyHops: config.TRUST_PROXY_HOPS,
    }),
    onFrame: createHandleFrame(createReauthenticate({ ...shared, denyList, auditRefusal })),
    onClose: streams.onClose,
    idleTimeoutSeconds: config.PUSH_IDLE_TIMEOUT_SECONDS,
  });
}

/** Wires the push gateway. This is the only place that opens its connections. */
export async function compose(
  { config, logger, metrics }: ServiceContext<typeof pushGatewayConfig>,
  overrides: TestOverrides = {},
): Promise<PushGatewayParts> {
  const { now = Date.now } = overrides;
  const registry = createConnectionRegistry();
  const pushMetrics = createPushMetrics(metrics, registry.size);
  const all = { ...metrics, ...pushMetrics };
  const { verifyAccessToken, settings, closeKeyFile } = await openVerifier(config, logger, all, overrides);
  const { redis, subscription, messages } = openConnections(config, logger, overrides);
  const keys = redisKeys(config.KEY_PREFIX);
  const denyList = createDenyList(redis, keys, denialLifetimeMs(maxTokenSeconds(config)));
  const reporter = createProcessReporter({
    ...{ redis, keys, service: 'push-gateway', build: thisBuild, settings, now, hostNow: now },
    onMeasured: metrics.setClockAhead,
  });
  const stopping = new AbortController();
  const drain = createDrain({ registry, logger, config });
  const expiry = createExpirySweep({ now, onExpired: (connection) => closeConnection(connection, 'TOKEN_EXPIRED') });
  const pings = createPingWheel({ idleTimeoutSeconds: config.PUSH_IDLE_TIMEOUT_SECONDS });
  const common = { registry, metrics: pushMetrics, logger, now };
  const reconcile = createReconcile({ ...common, denyList, intervalMs: config.RECONCILE_INTERVAL_MS });
  const onLost = (count: number) => pushMetrics.closeRecordsLost.inc(count);
  const closeRecorder = createCloseRecorder({ redis, keys, gateway: hostname(), onLost });
  const subscriber = createSubscriber({
    ...common,
    redis: subscription,
    channel: keys.commands,
    onSubscribed: reconcile.wholeRound,
    recordClose: closeRecorder.record,
  });
  redis.on('ready', reconcile.wholeRound);
  const messageSubscription = createMessageSubscription({ ...common, redis: messages, keys });
  const streams = createStreamLifecycle({ ...common, expiry, pings, publish: createCommandPublisher(redis, keys) });
  const sampler = createAuditSampler(createAuditLog(logger));
  const app = composeApp({
    ...{ ...common, config, redis, keys, denyList, expiry, streams, sampler, verifyAccessToken },
    isDraining: drain.isDraining,
  });
  const host = config.BIND_ADDRESS && bareEmail(config.BIND_ADDRESS);
  const address = host ?? '::';
  let port: number | undefined;
  return {
    address() {
      if (port === undefined) throw new Error('the push gateway does not listen yet');
      return { address, port };
    },
    readiness: createReadiness({
      ...{ redis, subscriber, messageSubscription, denyList },
      ...{ openStreams: registry.size, maxStreams: config.MAX_STREAMS },
    }),
    async start() {
      port = await app.listen(config.PUSH_PORT, host);
      expiry.start();
      pings.start();
      reconcile.start();
      void runAndRepeat(reporter.write, reportIntervalMs, stopping.signal);
      logger.info({ address, port }, 'push gateway listens');
    },
    shutdown: [
      { name: 'process report', run: () => leave(stopping, reporter), timeoutMs: 250 },
      ...shutdownSteps({
        ...{ drain, app, expiry, pings, reconcile, redis, subscriber, subscription, messageSubscription, messages },
        drainSeconds: config.DRAIN_SECONDS,
      }),
      { name: 'audit log', run: sampler.flush, timeoutMs: 100 },
      { name: 'key file', run: closeKeyFile, timeoutMs: 100 },
    ],
  };
}

async function leave(stopping: AbortController, reporter: ProcessReporter): Promise<void> {
  stopping.abort();
  await reporter.remove();
}
