const VARIABLE = 'npm_config_strict_ssl';

/**
 * Runs a download with certificates checked: mongodb-memory-server checks a server's certificate only if npm is
 * configured to.
 */
export async function withVerifiedTls<T>(work: () => Promise<T>): Promise<T> {
  const before = process.env[VARIABLE];
  process.env[VARIABLE] = before ?? 'true';
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env[VARIABLE];
  }
}
