import { join } from 'node:path';
import { checkMongod } from './check-mongod.ts';
import type { ProvisionStep } from './provision-step.ts';

const VERSION = '8.0.17';
const HOST = 'https://fastdl.mongodb.org';
const ANSWER_TIMEOUT_MS = 5_000;
const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];
const STRICT_TLS = 'npm_config_strict_ssl';

/**
 * Step that downloads the official archive with mongodb-memory-server. That package picks the archive for this system,
 * checks its MD5 and shows the progress. The package's own variables apply: `MONGOMS_VERSION`,
 * `MONGOMS_DOWNLOAD_MIRROR`, `MONGOMS_DOWNLOAD_URL`, `MONGOMS_DOWNLOAD_DIR`, `MONGOMS_USE_HTTP`, …
 */
export const mongodbDownloadStep: ProvisionStep = {
  title: `download of MongoDB ${VERSION} by mongodb-memory-server`,
  async run(context) {
    // Imported only if this step runs, so that a run or test file that finds another binary saves the half second of
    // the import.
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

/**
 * Returns the reason why nothing can be fetched from this URL, or undefined if its host answers with any status. This
 * saves the minutes for which a downloader retries behind a firewall. Behind a proxy it returns undefined too, so that
 * the downloader tries, because only a try can show it.
 */
async function findObstacle(url: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (PROXY_VARIABLES.some((variable) => env[variable])) return undefined;
  try {
    await fetch(url, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    return undefined;
  } catch (error) {
    return `${new URL(url).host} cannot be reached: ${reasonOf(error)}`;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${ANSWER_TIMEOUT_MS / 1000} s`;
  return error.cause instanceof Error && 'code' in error.cause ? String(error.cause.code) : error.message;
}

/**
 * Runs a download and checks certificates. By default, mongodb-memory-server checks a server's certificate only if npm
 * is configured to do so.
 */
async function withVerifiedTls<T>(work: () => Promise<T>): Promise<T> {
  const before = process.env[STRICT_TLS];
  process.env[STRICT_TLS] = before ?? 'true';
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env[STRICT_TLS];
  }
}
