import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { generateKeys, type KeyFiles, type ServiceName, startRedis, waitUntil } from '@auth-account/local-stack';
import { type Provider, startProvider } from '@auth-account/local-stack/provider';
import { collectionsOf, ensureIndexes } from '@auth-account/stores';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { passkeySettings } from '../../../support/api/passkeys.ts';
import { type Endings, startWhole } from '../../../support/closing.ts';
import { openGuardedFolder } from '../../../support/processes/guarded-folder.ts';
import { processEnvironment } from '../../../support/processes/process-environment.ts';
import { cheapHashes, unlimitedRequests } from '../../../support/test-environment.ts';
import { createMailbox } from '../load/mailbox.ts';
import { providerName } from '../sign-in/federated-user.ts';
import { createFakedClock } from './faked-clock.ts';
import { type ReplicaSetOptions, startReplicaSet } from './replica-set.ts';
import { type ServiceInstance, startInstance } from './service-instance.ts';
import { mountSmallDisk } from './small-disk.ts';
import { startMailServer, startWebhookSubscriber } from './subscribers.ts';

/**
 * Two processes of each service, MongoDB with three members, Redis with its append-only file, and two webhooks, all on
 * loopback.
 */
export type FaultStack = Awaited<ReturnType<typeof startFaultStack>>;

/** `logDir` is the directory of all logs. */
export type FaultStackOptions = Pick<ReplicaSetOptions, 'logDir' | 'lockSeconds'>;

/** Lifetime of an access token. */
const accessTokenSeconds = 120;

const redisDiskMib = 256;
const startTimeoutMs = 120_000;

/** Starts everything or nothing. After a failure, parts that had started are ended again. */
export const startFaultStack = (options: FaultStackOptions) => startWhole((endings) => startParts(options, endings));

async function startParts(options: FaultStackOptions, endings: Endings) {
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
  const clock = await createFakedClock(join(folder.dir, 'clock'));

  const client = new MongoClient(replicaSet.mongo.uri, { readConcern: { level: 'majority' } });
  const db = client.db('faults');
  endings.push(() => client.close());
  await ensureIndexes(db);

  const keys = await generateKeys(join(folder.dir, 'keys'));
  const env = environment(keys, [...subscribers, mailServer], provider);
  const services: ServiceInstance[] = [];
  endings.push(() => Promise.all(services.map((service) => service.close())));
  for (const number of [1, 2]) {
    for (const service of ['api', 'push-gateway', 'worker'] as const) {
      const own = { ...env, ...(number === 2 ? clock?.env : {}), ...ownEnvironment(service, number, keys) };
      const common = { mongoUri: replicaSet.mongo.uri, redis, logDir: options.logDir, onSpawn: folder.watch };
      services.push(await startInstance({ service, number, env: own, ...common }));
    }
  }
  const findComplaint = async () => {
    const complaints = [replicaSet, ...services].map((part) => part.findComplaint());
    return (await Promise.all(complaints)).find((complaint) => complaint !== undefined);
  };
  const isReady = async () => (await findComplaint()) === undefined;
  await waitUntil(isReady, { what: 'All parts ready', timeoutMs: startTimeoutMs, intervalMs: 200 });
  return {
    ...{ replicaSet, redis, redisClient, redisDir, services, mailServer },
    /** The disk of Redis's file, if it can be filled. */
    redisDisk,
    subscribers,
    /** Everything that the second webhook and the mail server received to mail. */
    mailbox,
    /** A provider of OpenID Connect, by which users log in. */
    provider,
    /** The clock of each service's second process, if libfaketime is available. */
    clock,
    /** The services' database, read with majority concern and without the proxies. */
    collections: collectionsOf(db),
    /** Returns undefined if all parts are ready, and otherwise the fault. */
    findComplaint,
  };
}

/** Returns the environment variables in which a process differs from others. */
function ownEnvironment(service: ServiceName, number: number, keys: KeyFiles): Record<string, string> {
  if (service === 'push-gateway') return { ACCESS_TOKEN_KEYS_FILE: keys.accessTokenPublic };
  // Accounts that the first api deletes are erased at once. Those that the second deletes can be restored.
  return service === 'api' ? { ACCOUNT_DELETION_GRACE_DAYS: number === 1 ? '0' : '14' } : {};
}

function environment(
  keys: KeyFiles,
  subscribers: readonly { readonly configuration: object }[],
  { issuer, jwksUri }: Provider,
): Record<string, string> {
  const client = { client_ids: ['app'], email_domains: ['office.example'] };
  const provider = { name: providerName, issuers: [issuer], jwks_uri: jwksUri, ...client };
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
    IDENTITY_PROVIDERS: JSON.stringify([provider]),
    DELIVERY_TIMEOUT_MS: '2000',
    VALIDATE_RESPONSES: 'true',
    // The cost of a hash does not matter here, and all apps are on the same network.
    ...cheapHashes,
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
