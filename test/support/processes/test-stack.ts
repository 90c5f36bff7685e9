import { findFreePort, type ServiceName, startRedis, startService } from '@auth-account/local-stack';
import { collectionsOf, ensureIndexes } from '@auth-account/stores';
import { MongoClient } from 'mongodb';
import type { TokenPair } from '../api/accounts.ts';
import { apiAt } from '../api/api-driver.ts';
import { type Endings, startWhole } from '../closing.ts';
import { openGreeted } from '../gateway/push-client.ts';
import { send } from '../http-client.ts';
import { type Environment, gatewayEnvironment, serviceEnvironment } from '../service-environment.ts';
import { cheapHashes, uniqueName } from '../test-environment.ts';
import { startReceiver } from '../worker/worker-receiver.ts';
import { openGuardedFolder } from './guarded-folder.ts';

/** The three services as processes, on the shared MongoDB, a separate Redis and a subscriber. */
export type TestStack = Awaited<ReturnType<typeof startTestStack>>;

const names = ['api', 'push-gateway', 'worker'] as const satisfies readonly ServiceName[];

/** Starts the whole stack or nothing: if a part fails to start, the parts before it are ended. */
export const startTestStack = (settings: Environment = {}) => startWhole((endings) => startParts(settings, endings));

async function startParts(settings: Environment, endings: Endings) {
  const folder = await openGuardedFolder('stack');
  endings.push(folder.close);
  const name = uniqueName();
  const redis = await startRedis({ dir: folder.dir, log: () => undefined, onSpawn: folder.watch });
  endings.push(() => redis.kill());
  const receiver = await startReceiver('analytics');
  endings.push(() => receiver.close());
  const ports = await freePorts(['API_PORT', 'PUSH_PORT', 'API_OPS_PORT', 'PUSH_OPS_PORT', 'WORKER_OPS_PORT']);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...serviceEnvironment(name),
    ...cheapHashes,
    ...ports,
    REDIS_URL: redis.url,
    EVENT_SUBSCRIBERS: JSON.stringify([receiver.subscriber]),
    PUSH_PUBLIC_URL: `ws://127.0.0.1:${ports.PUSH_PORT}`,
    ...settings,
  };
  const mongo = new MongoClient(env.MONGODB_URI ?? '');
  const db = mongo.db(name);
  endings.push(async () => {
    await db.dropDatabase();
    await mongo.close();
  });
  await ensureIndexes(db);

  const logs: Record<ServiceName, string[]> = { api: [], 'push-gateway': [], worker: [] };
  const start = (service: ServiceName) => {
    const onLine = (line: string) => logs[service].push(line);
    const own = service === 'push-gateway' ? gatewayEnvironment(env) : env;
    return startService(service, { env: own, onLine, log: onLine, onSpawn: folder.watch, restartDelaysMs: [200] });
  };
  const services = { api: start('api'), 'push-gateway': start('push-gateway'), worker: start('worker') };
  endings.push(() => Promise.all(names.map((service) => services[service].stop())));
  await Promise.all(names.map((name) => withLogs(logs[name], () => services[name].waitUntilReady(90_000))));

  const opsPorts = { api: ports.API_OPS_PORT, 'push-gateway': ports.PUSH_OPS_PORT, worker: ports.WORKER_OPS_PORT };
  const apiUrl = `http://127.0.0.1:${ports.API_PORT}`;
  const pushUrl = `ws://127.0.0.1:${ports.PUSH_PORT}`;
  return {
    ...apiAt(apiUrl),
    services,
    /** Port of each service's probes and metrics. */
    opsPorts,
    redis,
    receiver,
    /** URL of the api for apps. */
    apiUrl,
    /** URL of the gateway for apps: `ws://…`. */
    pushUrl,
    collections: collectionsOf(db),
    /** Output of the services, by service. */
    logs,
    /** Requests `/readyz` or `/metrics` of a service. */
    ops: (service: ServiceName, path: string) => send(`http://127.0.0.1:${opsPorts[service]}`, { method: 'GET', path }),
    openStream: ({ push_stream_path, access_token }: Pick<TokenPair, 'push_stream_path' | 'access_token'>) =>
      withLogs(logs['push-gateway'], () => openGreeted(pushUrl + push_stream_path, { token: access_token })),
  };
}

/** Adds the services' last output to a failure. */
async function withLogs<T>(lines: readonly string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new Error(`${(cause as Error).message}\n${lines.slice(-10).join('\n')}`, { cause });
  }
}

async function freePorts<N extends string>(variables: readonly N[]): Promise<Record<N, string>> {
  const ports = await Promise.all(variables.map(async (variable) => [variable, String(await findFreePort())]));
  return Object.fromEntries(ports) as Record<N, string>;
}
