import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { generateSecretKey, generateSigningKey, type KeyEntry, writeKeyFile } from '@auth-account/tokens';

/** Paths of the JWKS files, as the services' configuration takes them. */
export interface KeyFiles {
  /** `ACCESS_TOKEN_KEYS_FILE`: private Ed25519 keys; the first signs, all verify. */
  readonly accessToken: string;
  /** `REFRESH_TOKEN_KEYS_FILE`: 256-bit HMAC keys. */
  readonly refreshToken: string;
  /** `SERVER_KEYS_FILE`: 256-bit HMAC keys. */
  readonly server: string;
}

/**
 * Makes signing keys for development and tests in `dir`, readable by their owner only. Files that exist already are
 * kept. Production mounts its own.
 */
export async function generateKeys(dir: string): Promise<KeyFiles> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const files = {
    accessToken: join(dir, 'access-token-keys.json'),
    refreshToken: join(dir, 'refresh-token-keys.json'),
    server: join(dir, 'server-keys.json'),
  };
  await writeOnce(files.accessToken, () => generateSigningKey('EdDSA'));
  await writeOnce(files.refreshToken, generateSecretKey);
  await writeOnce(files.server, generateSecretKey);
  return files;
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
