import { statfs } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeys, type Log, startMongo, startRedis } from '@auth-account/local-stack';
import { openGuardedFolder } from '../processes/guarded-folder.ts';
import { patientOptions } from '../test-environment.ts';

export type TestServers = Awaited<ReturnType<typeof startTestServers>>;

interface TestServerOptions {
  /** Directory in which the servers' directory is created. Default: in memory, if there is plenty of memory. */
  readonly parent?: string | undefined;
  /** More parameters of MongoDB. */
  readonly setParameters?: Readonly<Record<string, string>>;
}

const memoryFileSystem = '/dev/shm';
/** Several times what a whole test run writes. */
const wantedBytes = 4 * 2 ** 30;

/**
 * Returns a directory in memory if there is plenty of memory, because none of the data is kept. Each test file creates
 * a database, whose collections, indexes and transactions would wait for `fsync` on a disk.
 */
async function parentDirectory(): Promise<string> {
  try {
    const { bavail, bsize } = await statfs(memoryFileSystem);
    if (Math.min(bavail * bsize, freemem()) > wantedBytes) return memoryFileSystem;
  } catch {
    // This system has no such directory.
  }
  return tmpdir();
}

/**
 * Starts a MongoDB replica set of one and a Redis, in a temporary directory and on free ports, independent of a running
 * stack. `failCommand` works in this MongoDB. Both end with the present process, even if it is killed. The environment
 * of this process names them, so that test/support finds them.
 */
export async function startTestServers(
  log: Log = () => undefined,
  { parent, setParameters = {} }: TestServerOptions = {},
) {
  const folder = await openGuardedFolder('test', parent ?? (await parentDirectory()));
  const keysDir = join(folder.dir, 'keys');
  const keys = await generateKeys(keysDir);
  const parameters = { enableTestCommands: '1', ...setParameters };
  const [mongo, redis] = await Promise.all([
    startMongo({ dir: join(folder.dir, 'mongo'), setParameters: parameters, log, onSpawn: folder.watch }),
    // None of the data is kept, and on a slow disk Redis would stall its clients while it writes the file.
    startRedis({ dir: join(folder.dir, 'redis'), extraArgs: ['--appendfsync', 'no'], log, onSpawn: folder.watch }),
  ]);
  const TEST_MONGODB_URI = `${mongo.uri}&${patientOptions}`;
  Object.assign(process.env, { TEST_MONGODB_URI, TEST_REDIS_URL: redis.url, TEST_KEYS_DIR: keysDir });
  return {
    mongo,
    redis,
    keysDir,
    keys,
    /** Ends both servers and removes their directory. */
    async stop() {
      // None of the data is kept, so there is nothing to save first.
      await Promise.all([mongo.kill(), redis.kill()]);
      await folder.close();
    },
  };
}
