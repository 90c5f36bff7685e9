import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  generateSecretKey,
  generateSigningKey,
  loadKeyFile,
  writeKeyFile,
  writePublicKeyFile,
} from '@auth-account/tokens';
import type { AccessTokenAlgorithm, KeyEntry } from '@auth-account/verifier/access-token';

/** Paths of the JWKS files, for the services' configuration. */
export interface KeyFiles {
  /** `ACCESS_TOKEN_KEYS_FILE` of the api: private keys. The first key signs, and all verify. */
  readonly accessToken: string;
  /** `ACCESS_TOKEN_KEYS_FILE` of the push gateway: the public parts of the api's access token keys. */
  readonly accessTokenPublic: string;
  /** `REFRESH_TOKEN_KEYS_FILE`: 256-bit HMAC keys. */
  readonly refreshToken: string;
  /** `SERVER_KEYS_FILE`: 256-bit HMAC keys. */
  readonly server: string;
}

/**
 * Creates keys for development and tests in `dir`, readable only by their owner; a new signing key has the given
 * algorithm. Existing files are kept, except the public file, which is written again from the private one. Production
 * mounts its own keys.
 */
export async function generateKeys(dir: string, algorithm: AccessTokenAlgorithm = 'ES256'): Promise<KeyFiles> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const files = {
    accessToken: join(dir, 'access-token-keys.json'),
    accessTokenPublic: join(dir, 'access-token-public-keys.json'),
    refreshToken: join(dir, 'refresh-token-keys.json'),
    server: join(dir, 'server-keys.json'),
  };
  await writeOnce(files.accessToken, () => generateSigningKey(algorithm));
  await writePublicKeys(files.accessToken, files.accessTokenPublic);
  await writeOnce(files.refreshToken, generateSecretKey);
  await writeOnce(files.server, generateSecretKey);
  return files;
}

/** Writes the public parts of an api key file to `to`, and replaces that file if it exists. */
export async function writePublicKeys(from: string, to: string): Promise<void> {
  await writePublicKeyFile(to, await loadKeyFile(from));
}

async function writeOnce(path: string, makeKey: () => KeyEntry | Promise<KeyEntry>): Promise<void> {
  if (await exists(path)) return;
  await writeKeyFile(path, { keys: [await makeKey()] }, { replace: false });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
