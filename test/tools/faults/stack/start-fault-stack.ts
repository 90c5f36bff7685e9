import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  generateKeys,
  type KeyFiles,
  type LocalRedis,
  type OnSpawn,
  type ServiceName,
  startRedis,
  waitUntil,
} from '@auth-account/local-stack';
import { type Provider, startProvider } from '@auth-account/local-stack/provider';
import { type Collections, collectionsOf, ensureIndexes } from '@auth-account/stores';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { passkeySettings } from '../../../support/api/passkeys.ts';
import { type Endings, startWhole } from '../../../support/closing.ts';
import { openGuardedFolder } from '../../../support/processes/create-process-guard.ts';
import { processEnvironment } from '../../../support/processes/process-environment.ts';
import { unlimitedRequests } from '../../../support/test-environment.ts';
import { createMailbox, type Mailbox } from '../load/mailbox.ts';
import { providerName } from '../sign-in/federated-user.ts';
import { createFakedClock, type FakedClock, type FakedClockOptions } from './faked-clock.ts';
import { type ReplicaSet, type ReplicaSetOptions, startReplicaSet } from './replica-set.ts';
import { type ServiceInstance, startInstance } from './service-instance.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';
import { type MailServer, startMailServer, startWebhookSubscriber, type WebhookSubscriber } from './subscribers.ts';

/**
 * Two processes of each service, MongoDB with three members, Redis with its append-only file, and two webhooks, all on
 * loopback.
 */
export interface FaultStack {
  readonly replicaSet: ReplicaSet;
  readonly redis: LocalRedis;
  readonly redisClient: Redis;
  readonly redisDir: string;
  /** The disk of Redis's file, if it can be filled. */
  readonly redisDisk: SmallDisk | undefined;
  readonly services: readonly ServiceInstance[];
  readonly subscribers: readonly WebhookSubscriber[];
  /** Everything that the second webhook received to mail. */
  readonly mailbox: Mailbox;
  /** A mail server that fills the mailbox too. */
  readonly mailServer: MailServer;
  /** A provider of OpenID Connect, by which users log in. */
  readonly provider: Provider;
  /** The clock of each service's second process, if libfaketime is available. */
  readonly clock: FakedClock | undefined;
  /** The services' database, read with majority concern and without the proxies. */
  readonly collections: Collections;
  /** Returns undefined if all parts are ready, and otherwise the fault. */
  findComplaint(): Promise<string | undefined>;
  close(): Promise<void>;
}

export interface FaultStackOptions extends FakedClockOptions, Pick<ReplicaSetOptions, 'logDir' | 'lockSeconds'> {}

/** Lifetime of an access token. */
const accessTokenSeconds = 120;

const redisDiskMib = 256;
const startTimeoutMs = 120_000;

/** Starts everything or nothing. After a failure, parts that had started are ended again. */
export function startFaultStack(options: FaultStackOptions): Promise<FaultStack> {
  return startWhole((endings) => startParts(options, endings));
}

async function startParts(options: FaultStackOptions, endings: Endings): Promise<Omit<FaultStack, 'close'>> {
  const folder = await openGuardedFolder('faults');
  await mkdir(options.logDir, { recursive: true });
  endings.push(folder.close);
  const replicaSet = await startReplicaSet({ ...options, dir: join(folder.dir, 'mongo'), onSpawn: folder.watch });
  endings.push(replicaSet.close);
  const redisDir = join(folder.dir, 'redis');
  const redisDisk = await mountSmallDisk(redisDir, redisDiskMib);
  endings.push(async () => redisDisk?.unmount());
  const redis = await startRedis({ dir: redisDir, log: () => undefined, onSpawn: folder.watch });
  endings.push(() => redis.kill());
  const redisClient = new Redis(redis.port, '127.0.0.1').on('error', () => undefined);
  endings.push(async () => redisClient.disconnect());
  const mailbox = await createMailbox();
  const subscribers = [
    await startWebhookSubscriber('analytics'),
    await startWebhookSubscriber('notification', mailbox),
  ];
  endings.push(() => Promise.all(subscribers.map((subscriber) => subscriber.close())));
  const mailServer = await startMailServer(mailbox);
  endings.push(mailServer.close);
  const provider = await startProvider();
  endings.push(provider.close);
  const clock = await createFakedClock(join(folder.dir, 'clock'), options);

  const client = new MongoClient(replicaSet.mongo.uri, { readConcern: { level: 'majority' } });
  const db = client.db('faults');
  endings.push(() => client.close());
  await ensureIndexes(db);

  const keys = await generateKeys(join(folder.dir, 'keys'));
  const env = { ...environment(keys, [...subscribers, mailServer]), ...providerEnvironment(provider) };
  const services: ServiceInstance[] = [];
  endings.push(() => Promise.all(services.map((service) => service.close())));
  const onSpawn: OnSpawn = folder.watch;
  for (const number of [1, 2]) {
    for (const service of ['api', 'push-gateway', 'worker'] as const) {
      const own = { ...env, ...(number === 2 ? clock?.env : {}), ...ownEnvironment(service, number, keys) };
      const common = { mongoUri: replicaSet.mongo.uri, redis, logDir: options.logDir, onSpawn };
      services.push(await startInstance({ service, number, env: own, ...common }));
    }
  }
  const findComplaint = async () => {
    const complaints = [replicaSet, ...services].map((part) => part.findComplaint());
    return (await Promise.all(complaints)).find((complaint) => complaint !== undefined);
  };
  const isReady = async () => (await findComplaint()) === undefined;
  await waitUntil(isReady, { what: 'All parts ready', timeoutMs: startTimeoutMs, intervalMs: 200 });
  const collections = collectionsOf(db);
  return {
    ...{ replicaSet, redis, redisClient, redisDir, redisDisk, services, subscribers },
    ...{ mailbox, mailServer, provider, clock, collections, findComplaint },
  };
}

/** Returns the environment variables in which a process differs from others. */
function ownEnvironment(service: ServiceName, number: number, keys: KeyFiles): Record<string, string> {
  if (service === 'push-gateway') return { ACCESS_TOKEN_KEYS_FILE: keys.accessTokenPublic };
  // Accounts that the first api deletes are erased at once. Those that the second deletes can be restored.
  return service === 'api' ? { ACCOUNT_DELETION_GRACE_DAYS: number === 1 ? '0' : '14' } : {};
}

function providerEnvironment({ issuer, jwksUri }: Provider): Record<string, string> {
  const entry = { issuers: [issuer], jwks_uri: jwksUri, client_ids: ['app'], email_domains: ['office.example'] };
  return { IDENTITY_PROVIDERS: JSON.stringify([{ name: providerName, ...entry }]) };
}

function environment(
  keys: KeyFiles,
  subscribers: readonly Pick<WebhookSubscriber, 'configuration'>[],
): Record<string, string> {
  return {
    ...(processEnvironment() as Record<string, string>),
    BIND_ADDRESS: '127.0.0.1',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'warn',
    MONGODB_DATABASE: 'faults',
    ACCESS_TOKEN_KEYS_FILE: keys.accessToken,
    REFRESH_TOKEN_KEYS_FILE: keys.refreshToken,
    SERVER_KEYS_FILE: keys.server,
    ACCESS_TOKEN_TTL_SECONDS: String(accessTokenSeconds),
    EVENT_SUBSCRIBERS: JSON.stringify(subscribers.map(({ configuration }) => configuration)),
    DELIVERY_TIMEOUT_MS: '2000',
    VALIDATE_RESPONSES: 'true',
    // The cost of a hash does not matter here, and all apps are on the same network.
    ARGON2_MEMORY_KIB: '8',
    ARGON2_PASSES: '1',
    ...unlimitedRequests,
    TRUST_PROXY_HOPS: '1',
    LOGIN_FREE_FAILURES: '15',
    LOGIN_KNOWN_FAILURES_PER_DAY: '100',
    LOGIN_ACCOUNT_FREE_FAILURES: '1000000',
    CODE_LIMIT_PER_ACCOUNT: '100',
    ...passkeySettings,
    ERASURE_INTERVAL_MS: '500',
    ERASURE_DELAY_SECONDS: '0',
  };
}
