import { createSecretKey, type KeyObject } from 'node:crypto';
import type { KeyEntry } from '@auth-account/verifier/access-token';

/** The minimum is 256 bits, the length of the HMACs that are computed with the secret. */
const minimumLength = 32;

/**
 * Returns the secret of a symmetric key (`kty` `oct`, RFC 7518 section 6.4). Throws for a key of another kind, or of
 * less than 256 bits.
 *
 * It returns a `KeyObject`, because `createHmac` of Node 24 takes six times as long with bytes (it throws and catches
 * two errors).
 */
export function readSecret({ kid, kty, k }: KeyEntry): KeyObject {
  const secret = kty === 'oct' && typeof k === 'string' ? Buffer.from(k, 'base64url') : undefined;
  if (secret === undefined || secret.length < minimumLength) {
    throw new Error(`key ${kid} is no symmetric key of 256 bits or more`);
  }
  return createSecretKey(secret);
}
