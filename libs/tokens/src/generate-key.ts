import { randomBytes } from 'node:crypto';
import type { AccessTokenAlgorithm, KeyEntry } from '@auth-account/verifier/access-token';
import { exportJWK, generateKeyPair } from 'jose';

/**
 * Creates a private key for access tokens, with a random `kid` (RFC 7518 section 6.2 for P-256, RFC 8037 for Ed25519).
 */
export async function generateSigningKey(algorithm: AccessTokenAlgorithm): Promise<KeyEntry> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = (await exportJWK(privateKey)) as Omit<KeyEntry, 'kid'> & { readonly kty: string };
  return { ...jwk, kid: newKeyId(), alg: algorithm, use: 'sig' };
}

/** Creates a symmetric key of 256 bits, for refresh tokens or the server's secrets (RFC 7518 section 6.4). */
export function generateSecretKey(): KeyEntry {
  return { kty: 'oct', kid: newKeyId(), k: randomBytes(32).toString('base64url') };
}

function newKeyId(): string {
  return randomBytes(8).toString('hex');
}
