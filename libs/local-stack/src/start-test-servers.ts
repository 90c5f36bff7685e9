import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeys, type KeyFiles } from './keys/generate-keys.ts';
import type { Log } from './log.ts';
import { createProcessGuard } from './servers/create-process-guard.ts';
import { type LocalMongo, startMongo } from './servers/start-mongo.ts';
import { type LocalRedis, startRedis } from './servers/start-redis.ts';

export interface TestServers {
  readonly mongo: LocalMongo;
  readonly redis: LocalRedis;
  readonly keysDir: string;
  readonly keys: KeyFiles;
  /** Ends both servers and removes their directory. */
  stop(): Promise<void>;
}

/**
 * A MongoDB replica set of one and a Redis of their own, in a temporary directory and on free ports, apart from a
 * running stack. `failCommand` works in this MongoDB. Both end with the present process, also when that is killed.
 */
export async function startTestServers(log: Log): Promise<TestServers> {
  const dir = await mkdtemp(join(tmpdir(), 'auth-account-test-'));
  const guard = createProcessGuard(dir);
  const keysDir = join(dir, 'keys');
  const keys = await generateKeys(keysDir);
  const setParameters = { enableTestCommands: '1' };
  const [mongo, redis] = await Promise.all([
    startMongo({ dir: join(dir, 'mongo'), setParameters, log, onSpawn: guard.watch }),
    // Nothing of the data is kept: with a slow disk Redis would hold its clients up for the file's sake.
    startRedis({ dir: join(dir, 'redis'), extraArgs: ['--appendfsync', 'no'], log, onSpawn: guard.watch }),
  ]);
  return {
    mongo,
    redis,
    keysDir,
    keys,
    async stop() {
      // Nothing of the data is kept, so there is nothing to write down first.
      await Promise.all([mongo.kill(), redis.kill()]);
      await rm(dir, { recursive: true, force: true });
      guard.dismiss();
    },
  };
}
