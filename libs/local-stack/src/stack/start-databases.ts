import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../log.ts';
import { findVersion } from '../provision/check-binary.ts';
import { provideMongodb } from '../provision/provide-mongodb.ts';
import { provideRedis } from '../provision/provide-redis.ts';
import { type LocalMongo, startMongo } from '../servers/start-mongo.ts';
import { type LocalRedis, startRedis } from '../servers/start-redis.ts';
import { assertDataVersion, noteDataVersion } from './data-version.ts';
import type { Settings } from './read-settings.ts';

export interface DatabaseOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Settings;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called with each process that is started, and with the directory in its command line. */
  readonly onSpawn: (pid: number, marker: string) => void;
  /** Called if a server has ended by itself and can't be restarted. */
  readonly onFailure: (error: Error) => void;
}

export interface Databases {
  /** Undefined if the environment names an existing server. */
  readonly mongo: LocalMongo | undefined;
  readonly redis: LocalRedis | undefined;
}

/** Provides and starts MongoDB and Redis with their data in the data directory. A server that dies is started again. */
export async function startDatabases(options: DatabaseOptions): Promise<Databases> {
  const { env, log, signal } = options;
  const [mongodb, redis] = [await provideMongodb({ env, log, signal }), await provideRedis({ env, log, signal })];
  signal.throwIfAborted();
  const [startedMongo, startedRedis] = await Promise.all([
    'binary' in mongodb ? startOwnMongo(mongodb.binary, options) : undefined,
    'binary' in redis ? startOwnRedis(redis.binary, options) : undefined,
  ]);
  return { mongo: startedMongo, redis: startedRedis };
}

async function startOwnMongo(binary: string, options: DatabaseOptions): Promise<LocalMongo> {
  const { settings, log } = options;
  const dir = join(settings.dataDir, 'mongo');
  const version = await findVersion(binary);
  if ('found' in version) await assertDataVersion(dir, version.found, binary);
  let mongo: LocalMongo | undefined;
  mongo = await startMongo({
    binary,
    dir,
    port: settings.ports.LOCAL_MONGO_PORT,
    log,
    onSpawn: (pid) => options.onSpawn(pid, dir),
    onUnexpectedExit: () => restart('MongoDB', mongo, options),
  }).catch((error: Error) => {
    // Adds advice for data of a newer or much older MongoDB, because MongoDB's own message does not say what to do.
    throw new Error(`${error.message}\nIf the data cannot be read: npm run up -- --fresh starts without them.`);
  });
  if ('found' in version) await noteDataVersion(dir, version.found);
  return mongo;
}

async function startOwnRedis(binary: string, options: DatabaseOptions): Promise<LocalRedis> {
  const { settings, log } = options;
  const dir = join(settings.dataDir, 'redis');
  await mkdir(dir, { recursive: true });
  let redis: LocalRedis | undefined;
  redis = await startRedis({
    binary,
    dir,
    port: settings.ports.LOCAL_REDIS_PORT,
    log,
    onSpawn: (pid) => options.onSpawn(pid, dir),
    onUnexpectedExit: () => restart('Redis', redis, options),
  });
  return redis;
}

function restart(name: string, server: LocalMongo | LocalRedis | undefined, options: DatabaseOptions): void {
  // Before the first start has finished, its own error reports that the server ended. During shutdown an end is
  // expected.
  if (server === undefined || options.signal.aborted) return;
  options.log(`${name}: ended by itself, is started again`);
  server.start().catch(options.onFailure);
}
