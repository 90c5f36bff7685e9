import { stat } from 'node:fs/promises';
import { type AccessTokenAlgorithm, type KeySet, publicKeySet } from '@auth-account/verifier/access-token';
import { writeKeyFile } from './write-key-file.ts';

/**
 * Writes the public halves of the access token keys: all that the push gateway may have of them. An existing file is
 * replaced, as {@link writeKeyFile} does it.
 */
export async function writePublicKeyFile(path: string, set: KeySet, algorithm: AccessTokenAlgorithm): Promise<void> {
  await writeKeyFile(path, publicKeySet(set, algorithm), { replace: await exists(path) });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
