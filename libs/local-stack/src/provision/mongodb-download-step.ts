import { join } from 'node:path';
import { checkMongod } from './check-mongod.ts';
import { findObstacle } from './find-obstacle.ts';
import type { ProvisionStep } from './provision-step.ts';
import { withVerifiedTls } from './with-verified-tls.ts';

const VERSION = '8.0.17';
const HOST = 'https://fastdl.mongodb.org';

/**
 * Step that downloads the official archive with mongodb-memory-server, which picks the one for this system, checks its
 * MD5 and shows its progress. Its own variables apply: `MONGOMS_VERSION`, `MONGOMS_DOWNLOAD_MIRROR`,
 * `MONGOMS_DOWNLOAD_URL`, `MONGOMS_DOWNLOAD_DIR`, `MONGOMS_USE_HTTP`, …
 */
export const mongodbDownloadStep: ProvisionStep = {
  title: `download of MongoDB ${VERSION} by mongodb-memory-server`,
  async run(context) {
    // Imported only if this step runs: it takes half a second, which a run that finds another binary saves, each test
    // file too.
    const { DryMongoBinary, MongoBinary } = await import('mongodb-memory-server-core');
    const { env, cacheDir } = context;
    const options = {
      version: env.MONGOMS_VERSION ?? VERSION,
      downloadDir: join(cacheDir, 'mongodb-download'),
    };
    const present = await DryMongoBinary.locateBinary(options);
    if (present !== undefined) return checkMongod(present, context);
    const source = env.MONGOMS_DOWNLOAD_URL ?? env.MONGOMS_DOWNLOAD_MIRROR ?? HOST;
    const obstacle = await findObstacle(source, env);
    if (obstacle !== undefined) return { missing: obstacle };
    const binary = await withVerifiedTls(() => MongoBinary.getPath({ ...options, checkMD5: true }));
    return checkMongod(binary, context);
  },
};
