import { createSecretKey, type KeyObject } from 'node:crypto';
import type { KeyEntry } from '@auth-account/verifier/access-token';

/** 256 bits: as many as the HMACs that are computed with them have. */
const minimumLength = 32;

/**
 * Returns the secret of a symmetric key (`kty` `oct`, RFC 7518 section 6.4). Throws for a key of another kind, or of
 * less than 256 bits.
 *
 * It is a `KeyObject`: given bytes, each `createHmac` of Node 24 throws and catches two errors, and takes six times as
 * long.
 */
export function readSecret({ kid, kty, k }: KeyEntry): KeyObject {
  const secret = kty === 'oct' && typeof k === 'string' ? Buffer.from(k, 'base64url') : undefined;
  if (secret === undefined || secret.length < minimumLength) {
    throw new Error(`key ${kid} is no symmetric key of 256 bits or more`);
  }
  return createSecretKey(secret);
}
