import { readFile } from 'node:fs/promises';
import { type KeySet, parseKeySet } from '@auth-account/verifier/access-token';

/**
 * Reads a mounted JWK set and checks its form (see {@link parseKeySet}).
 *
 * Throws an `Error` that names the file and the fault, never a part of a key.
 */
export async function loadKeyFile(path: string): Promise<KeySet> {
  return parseKeySet(await readFile(path, 'utf8'), path);
}
