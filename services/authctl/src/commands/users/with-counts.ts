import { OperationError } from '@auth-account/operations';
import { type AccountCountStore, createAccountCounts } from '@auth-account/redis';
import { loadKeyFile, readSecret } from '@auth-account/tokens';
import type { Shell } from '../../cli/shell.ts';
import { withRedis } from '../../compose.ts';
import { keyConfig } from '../../config.ts';

/**
 * Opens Redis for work on the counts of accounts, whose names are HMACs. Throws an `OperationError` if the server's keys
 * or Redis are not there.
 */
export async function withCounts<T>(shell: Shell, work: (counts: AccountCountStore) => Promise<T>): Promise<T> {
  const { SERVER_KEYS_FILE: path } = shell.config(keyConfig);
  if (path === undefined) throw new OperationError('refused', 'SERVER_KEYS_FILE is not set. Set it as for the api.');
  const { keys } = await loadKeyFile(path).catch((error: unknown) => {
    throw new OperationError('refused', `${path}: ${(error as Error).message}`, { cause: error });
  });
  const secrets = keys.map(readSecret);
  return withRedis(shell, ({ redis, keyPrefix }) =>
    work(createAccountCounts({ redis, keyPrefix, secrets: () => secrets })),
  );
}
