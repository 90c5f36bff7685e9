const TIMEOUT_MS = 5_000;
const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/**
 * Returns why nothing can be fetched from this address, or undefined if its host answers, with whatever status. This
 * saves the minutes for which a downloader retries behind a firewall. Behind a proxy it can't tell, and lets the
 * downloader try.
 */
export async function findObstacle(url: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (PROXY_VARIABLES.some((variable) => env[variable])) return undefined;
  try {
    await fetch(url, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    return undefined;
  } catch (error) {
    return `${new URL(url).host} cannot be reached: ${reasonOf(error)}`;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} s`;
  return error.cause instanceof Error && 'code' in error.cause ? String(error.cause.code) : error.message;
}
