import { createPublicKey, type KeyObject } from 'node:crypto';
import type { KeyEntry, KeySet } from './key-set.ts';

/** Algorithms that a deployment may choose. Only the chosen one is accepted. */
export type AccessTokenAlgorithm = 'EdDSA' | 'ES256';

const kinds = {
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  ES256: { kty: 'EC', crv: 'P-256' },
} as const satisfies Record<AccessTokenAlgorithm, object>;

/** Returns the public half of the set, for `/.well-known/jwks.json`. */
export function publicKeySet({ keys: [first, ...others] }: KeySet, algorithm: AccessTokenAlgorithm): KeySet {
  const publish = (key: KeyEntry): KeyEntry => ({ ...publicJwk(key), use: 'sig', alg: algorithm });
  return { keys: [publish(first), ...others.map(publish)] };
}

/** Returns every key of the set, by its `kid`. */
export function importPublicKeys(set: KeySet, algorithm: AccessTokenAlgorithm): ReadonlyMap<string, KeyObject> {
  return new Map(
    set.keys.map((key) => {
      assertFits(key, algorithm);
      return [key.kid, createPublicKey({ key: publicJwk(key), format: 'jwk' })];
    }),
  );
}

/**
 * Throws if the key has another type or curve than the algorithm. The error contains the `kid` and no part of the key.
 */
export function assertFits({ kid, ...jwk }: KeyEntry, algorithm: AccessTokenAlgorithm): void {
  const { kty, crv } = kinds[algorithm];
  if (jwk.kty === kty && jwk.crv === crv) return;
  throw new Error(`key ${kid} does not fit ${algorithm}: it must be of kty ${kty} and crv ${crv}`);
}

function publicJwk({ kid, kty, crv, x, y }: KeyEntry): KeyEntry {
  return { kid, kty, crv, x, ...(y === undefined ? {} : { y }) };
}
