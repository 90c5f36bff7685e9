import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { findFreePort, type LocalRedis, type OnSpawn, type ServiceName, startService } from '@auth-account/local-stack';
import { get } from '../../../support/http-client.ts';
import { startHoldingProxy } from '../../../support/stores/holding-proxy.ts';

/** One process of a service, with a proxy on each of its connections. */
export type ServiceInstance = Awaited<ReturnType<typeof startInstance>>;

export interface InstanceOptions {
  readonly service: ServiceName;
  readonly number: number;
  readonly env: Readonly<Record<string, string>>;
  readonly mongoUri: string;
  readonly redis: LocalRedis;
  /** The directory of the logs. */
  readonly logDir: string;
  readonly onSpawn: OnSpawn;
}

const opsPorts = { api: 'API_OPS_PORT', 'push-gateway': 'PUSH_OPS_PORT', worker: 'WORKER_OPS_PORT' } as const;
const ports = { api: 'API_PORT', 'push-gateway': 'PUSH_PORT' } as const;

/** Starts the process and a supervisor, which restarts the process when it ends. The process becomes ready later. */
export async function startInstance(options: InstanceOptions) {
  const { service, number } = options;
  const name = `${service === 'push-gateway' ? 'gateway' : service}-${number}`;
  const redisProxy = await startHoldingProxy(options.redis.port);
  const opsPort = await findFreePort();
  const read = (path: string) => get(`http://127.0.0.1:${opsPort}`, path);
  const port = service === 'worker' ? undefined : await findFreePort();
  const front = port === undefined ? undefined : await startHoldingProxy(port);
  const log = createWriteStream(join(options.logDir, `${name}.log`));
  const onLine = (line: string) => log.write(`${line}\n`);
  const process = startService(service, {
    env: {
      ...options.env,
      [opsPorts[service]]: String(opsPort),
      ...(service === 'worker' ? {} : { [ports[service]]: String(port) }),
      MONGODB_URI: `${options.mongoUri}&appName=${name}`,
      REDIS_URL: `redis://127.0.0.1:${redisProxy.port}`,
    },
    onLine,
    log: onLine,
    onSpawn: options.onSpawn,
    restartDelaysMs: [200],
  });

  return {
    /** A name such as `api-1`, which is the `appName` of the process's connections to MongoDB. */
    name,
    service,
    process,
    /** The proxy between the process and Redis. */
    redisProxy,
    /** The proxy between the apps and the process. Workers have none. */
    front,
    /** Returns undefined if `/readyz` answers 200, and otherwise the answer. */
    findComplaint: () =>
      read('/readyz').then(
        ({ status, text }) => (status === 200 ? undefined : `${name}: ${status} ${text}`),
        (error: Error) => `${name}: ${error.message}`,
      ),
    /** Returns the value of a metric without labels; undefined if the process does not answer. */
    async countOf(metric: string): Promise<number | undefined> {
      const { text } = await read('/metrics').catch(() => ({ text: '' }));
      const found = new RegExp(`^${metric} (\\d+)`, 'm').exec(text)?.[1];
      return found === undefined ? undefined : Number(found);
    },
    async close() {
      await process.stop();
      await redisProxy.close();
      await front?.close();
      await new Promise<void>((resolve) => log.end(resolve));
    },
  };
}
