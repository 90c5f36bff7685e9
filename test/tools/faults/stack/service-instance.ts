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
  /** `api-1`; MongoDB's connections of the process carry it as their `appName`. */
  readonly name: string;
  readonly service: ServiceName;
  readonly process: LocalService;
  /** Between the process and Redis. */
  readonly redisProxy: CuttableProxy;
  /** Between the apps and the process; workers have none. */
  readonly front: CuttableProxy | undefined;
  /** Returns undefined if `/readyz` answers 200, else its answer. */
  findComplaint(): Promise<string | undefined>;
  close(): Promise<void>;
}

export interface InstanceOptions {
  readonly service: ServiceName;
  readonly number: number;
  readonly env: Readonly<Record<string, string>>;
  readonly mongoUri: string;
  readonly redis: LocalRedis;
  /** Directory of the logs. */
  readonly logDir: string;
  readonly onSpawn: OnSpawn;
}

const opsPorts = { api: 'API_OPS_PORT', 'push-gateway': 'PUSH_OPS_PORT', worker: 'WORKER_OPS_PORT' } as const;
const ports = { api: 'API_PORT', 'push-gateway': 'PUSH_PORT' } as const;

/** Starts the process and its supervisor, which restarts it when it ends; it becomes ready later. */
export async function startInstance(options: InstanceOptions): Promise<ServiceInstance> {
  const { service, number } = options;
  const name = `${service === 'push-gateway' ? 'gateway' : service}-${number}`;
  const redisProxy = await startCuttableProxy(options.redis.port);
  const opsPort = await findFreePort();
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
        const request = { method: 'GET', path: '/readyz' };
        const { status, text } = await send(`http://127.0.0.1:${opsPort}`, request);
        return status === 200 ? undefined : `${name}: ${status} ${text}`;
      } catch (error) {
        return `${name}: ${(error as Error).message}`;
      }
    },
    async close() {
      await process.stop();
      await redisProxy.close();
      await front?.close();
      await new Promise((resolve) => log.end(resolve));
    },
  };
}
