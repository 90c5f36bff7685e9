import { randomUUID } from 'node:crypto';
import { loadConfig } from '@auth-account/config';
import type { CloseReason } from '@auth-account/contracts';
import { waitUntil } from '@auth-account/local-stack';
import { createCommandPublisher } from '@auth-account/messaging/commands';
import { createDenyList, type Denial, type DenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { compose, type TestOverrides } from '@auth-account/push-gateway/compose';
import { pushGatewayConfig } from '@auth-account/push-gateway/config';
import { failFastOptions, redisKeys } from '@auth-account/redis';
import { createMetrics, type Logger } from '@auth-account/telemetry';
import { createAccessTokenSigner, loadKeyFile } from '@auth-account/tokens';
import { Redis } from 'ioredis';
import { quietLogger } from '../fixture.ts';
import { runService } from '../running-service.ts';
import { type Environment, gatewayEnvironment, serviceEnvironment } from '../service-environment.ts';
import { testEnvironment, uniqueName } from '../test-environment.ts';
import { openStream, type PushClient } from './push-client.ts';

/** A session on a device. */
export interface Device {
  readonly userId: string;
  readonly sessionId: string;
  readonly groupId: string;
  readonly ver: number;
}

/** Everything around a gateway in a test: the parts of the api and of the worker, with a separate key prefix. */
export type GatewayFixture = Awaited<ReturnType<typeof openGatewayFixture>>;

/** `redisUrl`: a separate Redis instead of the shared one. */
export async function openGatewayFixture(redisUrl?: string) {
  const name = uniqueName();
  const env: Environment = { ...serviceEnvironment(name), ...(redisUrl && { REDIS_URL: redisUrl }) };
  const redis = new Redis(env.REDIS_URL ?? '', { ...failFastOptions(60_000), enableOfflineQueue: true });
  redis.on('error', () => undefined);
  const keys = redisKeys(name);
  const denyList = createDenyList(redis, keys, denialLifetimeMs(600));
  const publish = createCommandPublisher(redis, keys);
  await completeDenyList(denyList);
  return {
    env,
    redis,
    keys,
    denyList,
    publish,
    /** Publishes a close command, as the api does after a logout. */
    publishClose: ({ sessionId }: Device, reason: CloseReason) =>
      publish({ type: 'close', session_id: sessionId, reason, request_id: 'test-logout', decided_at: Date.now() }),
    /** Writes the deny list and publishes, as the api does. */
    denyAndClose: ({ sessionId }: Device, denial: Denial) =>
      denyList.denyAndClose([{ sessionId, denial, requestId: 'test-logout', decidedAt: Date.now() }]),
    /** Writes the deny list only, as if the message was lost. */
    async denySilently({ sessionId }: Device, value: string) {
      const [seconds] = await redis.time();
      await redis.set(keys.denied(sessionId), value, 'EX', 60);
      await redis.zadd(keys.revocations, Number(seconds) * 1_000, sessionId);
    },
    completeDenyList: () => completeDenyList(denyList),
    close: async () => redis.disconnect(),
  };
}

/** Marks a deny list as complete, as the worker does after it has written the list again. */
export async function completeDenyList(denyList: DenyList): Promise<void> {
  if (!(await (await denyList.beginRebuild()).complete())) throw new Error('the deny list was not completed');
}

/** Marks the deny list of this key prefix as complete. */
export async function completeDenyListOf(keyPrefix: string): Promise<void> {
  const redis = new Redis(testEnvironment().redisUrl, { ...failFastOptions(), enableOfflineQueue: true });
  redis.on('error', () => undefined);
  const denyList = createDenyList(redis, redisKeys(keyPrefix), denialLifetimeMs(600));
  await completeDenyList(denyList).finally(() => redis.disconnect());
}

/** Returns a new device; `of`: another device of the same user or group. */
export function newDevice(of: Partial<Device> = {}): Device {
  return { userId: randomUUID(), groupId: randomUUID(), ver: 1, ...of, sessionId: randomUUID() };
}

/** Signs an access token for the device as the api would. */
export async function signToken(
  env: GatewayFixture['env'],
  { userId, sessionId, groupId, ver }: Device,
  { ttlSeconds = 600, now = Date.now } = {},
): Promise<string> {
  const sign = createAccessTokenSigner({
    keys: await loadKeyFile(env.ACCESS_TOKEN_KEYS_FILE ?? ''),
    issuer: 'https://auth.local',
    audience: 'food-storage',
    ttlSeconds,
    now,
  });
  const device_id = randomUUID();
  return sign({ user_id: userId, sid: sessionId, home_group_id: groupId, account_type: 'HOME', ver, device_id });
}

export type TestGateway = Awaited<ReturnType<typeof startTestGateway>>;

/**
 * Starts a gateway in this process. `env` overrides the fixture's environment. It waits for Redis for long, so that no
 * stall of the machine refuses a stream; `redisTimeoutMs: undefined` is as in production.
 */
export async function startTestGateway(
  fixture: Pick<GatewayFixture, 'env'>,
  env: Environment = {},
  overrides: TestOverrides = {},
  logger: Logger = quietLogger('push-gateway'),
) {
  const config = loadConfig(pushGatewayConfig, { env: gatewayEnvironment({ PUSH_PORT: '0', ...fixture.env, ...env }) });
  const metrics = createMetrics({ service: 'push-gateway' });
  const gateway = await compose({ config, logger, metrics }, { redisTimeoutMs: 60_000, ...overrides });
  const running = await runService(gateway, metrics);
  const base = `ws://127.0.0.1:${gateway.address().port}`;
  return {
    ...running,
    /** `ws://…` of its streams. */
    base,
    /** Opens the device's stream with a new token, and reads its `hello`. */
    async open(device: Device): Promise<PushClient> {
      const token = await signToken(fixture.env, device);
      const client = await openStream(base, { sessionId: device.sessionId, token });
      const hello = await client.next();
      if (hello.type !== 'hello') throw new Error(`the first frame is ${JSON.stringify(hello)}`);
      return client;
    },
  };
}

/** Starts a gateway in the same way, and waits until it is ready. */
export async function startReadyGateway(...given: Parameters<typeof startTestGateway>): Promise<TestGateway> {
  const gateway = await startTestGateway(...given);
  const isReady = async () => (await gateway.unreadiness()).length === 0;
  await waitUntil(isReady, { what: 'the gateway to be ready', timeoutMs: 60_000, intervalMs: 20 });
  return gateway;
}
