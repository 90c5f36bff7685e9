import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import {
  findFreePort,
  type LocalRedis,
  type LocalService,
  type OnSpawn,
  type ServiceName,
  startService,
} from '@auth-account/local-stack';
import { send } from '../../../support/http-client.ts';
import { type CuttableProxy, startCuttableProxy } from './cuttable-proxy.ts';

/** One process of a service, with a proxy on each of its connections. */
export interface ServiceInstance {
  /** A name such as `api-1`, which is the `appName` of the process's connections to MongoDB. */
  readonly name: string;
  readonly service: ServiceName;
  readonly process: LocalService;
  /** The proxy between the process and Redis. */
  readonly redisProxy: CuttableProxy;
  /** The proxy between the apps and the process. Workers have none. */
  readonly front: CuttableProxy | undefined;
  /** Returns undefined if `/readyz` answers 200, and otherwise the answer. */
  findComplaint(): Promise<string | undefined>;
  /** Returns the value of a metric without labels; undefined if the process does not answer. */
  countOf(metric: string): Promise<number | undefined>;
  close(): Promise<void>;
}

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
export async function startInstance(options: InstanceOptions): Promise<ServiceInstance> {
  const { service, number } = options;
  const name = `${service === 'push-gateway' ? 'gateway' : service}-${number}`;
  const redisProxy = await startCuttableProxy(options.redis.port);
  const opsPort = await findFreePort();
  const read = (path: string) => send(`http://127.0.0.1:${opsPort}`, { method: 'GET', path });
  const port = service === 'worker' ? undefined : await findFreePort();
  const front = port === undefined ? undefined : await startCuttableProxy(port);
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
    name,
    service,
    process,
    redisProxy,
    front,
    async findComplaint() {
      try {
        const { status, text } = await read('/readyz');
        return status === 200 ? undefined : `${name}: ${status} ${text}`;
      } catch (error) {
        return `${name}: ${(error as Error).message}`;
      }
    },
    async countOf(metric) {
      const text = await read('/metrics').then(
        (answer) => answer.text,
        () => '',
      );
      const found = new RegExp(`^${metric} (\\d+)`, 'm').exec(text)?.[1];
      return found === undefined ? undefined : Number(found);
    },
    async close() {
      await process.stop();
      await redisProxy.close();
      await front?.close();
      await new Promise((resolve) => log.end(resolve));
    },
  };
}
