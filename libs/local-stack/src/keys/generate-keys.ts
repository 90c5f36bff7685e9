import { randomBytes, webcrypto } from 'node:crypto';
import { mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

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
  await writeOnce(files.accessToken, makeSigningKey);
  await writeOnce(files.refreshToken, makeSecretKey);
  await writeOnce(files.server, makeSecretKey);
  return files;
}

async function writeOnce(path: string, makeKey: () => Promise<object>): Promise<void> {
  if (await exists(path)) return;
  const json = JSON.stringify({ keys: [await makeKey()] }, undefined, 2);
  // Renamed into place: a start that is interrupted leaves no half-written key.
  await writeFile(`${path}.new`, `${json}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function makeSigningKey(): Promise<object> {
  const pair = await webcrypto.subtle.generateKey({ name: 'Ed25519' }, true, ['sign', 'verify']);
  if (!('privateKey' in pair)) throw new Error('Ed25519 gave no key pair.');
  const { kty, crv, d, x } = await webcrypto.subtle.exportKey('jwk', pair.privateKey);
  return { kty, crv, d, x, kid: makeKeyId(), alg: 'EdDSA', use: 'sig' };
}

async function makeSecretKey(): Promise<object> {
  return { kty: 'oct', kid: makeKeyId(), k: randomBytes(32).toString('base64url') };
}

function makeKeyId(): string {
  return randomBytes(8).toString('hex');
}
