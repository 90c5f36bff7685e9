import { join } from 'node:path';
import { checkBinary } from './check-binary.ts';
import { findObstacle } from './find-obstacle.ts';
import { findOnPath } from './find-on-path.ts';
import type { ProvisionStep } from './provision-step.ts';
import { REDIS_REQUIREMENT } from './redis-requirement.ts';
import { withVerifiedTls } from './with-verified-tls.ts';

const HOST = 'https://download.redis.io';

/**
 * Step in which redis-memory-server downloads the sources (version: `redisMemoryServer` in package.json) and compiles
 * them, which takes some minutes. Its own variables apply: `REDISMS_VERSION`, `REDISMS_DOWNLOAD_MIRROR`,
 * `REDISMS_DOWNLOAD_URL`, …
 */
export const redisCompileStep: ProvisionStep = {
  title: 'sources compiled by redis-memory-server',
  async run({ env, cacheDir, log }) {
    for (const tool of ['make', 'cc']) {
      if ((await findOnPath(tool, env)) === undefined) return { missing: `${tool} is not on the PATH` };
    }
    const obstacle = await findObstacle(env.REDISMS_DOWNLOAD_URL ?? env.REDISMS_DOWNLOAD_MIRROR ?? HOST, env);
    if (obstacle !== undefined) return { missing: obstacle };
    log('  downloading and compiling Redis; this takes some minutes');
    const { RedisBinary } = await import('redis-memory-server');
    const downloadDir = join(cacheDir, 'redis-sources');
    return checkBinary(await withVerifiedTls(() => RedisBinary.getPath({ downloadDir })), REDIS_REQUIREMENT);
  },
};
