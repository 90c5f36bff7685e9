import { createPublicKey, type KeyObject } from 'node:crypto';
import type { KeyEntry, KeySet } from './key-set.ts';

/** Algorithms of access tokens, the default for new keys first. */
export const accessTokenAlgorithms = ['ES256', 'EdDSA'] as const;
export type AccessTokenAlgorithm = (typeof accessTokenAlgorithms)[number];

/** A public key, and the only algorithm by which its signatures count. */
export interface PublicKey {
  readonly key: KeyObject;
  readonly algorithm: AccessTokenAlgorithm;
}

/** Type, curve and accepted values of `alg` of each algorithm's keys (RFC 9864 renamed `EdDSA` with this curve). */
const kinds = {
  ES256: { kty: 'EC', crv: 'P-256', names: ['ES256'] },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', names: ['EdDSA', 'Ed25519'] },
} as const satisfies Record<AccessTokenAlgorithm, object>;

/** Returns the public keys of the set, for `/.well-known/jwks.json`. */
export function publicKeySet({ keys: [first, ...others] }: KeySet): KeySet {
  const publish = (key: KeyEntry): KeyEntry => ({ ...publicJwk(key), use: 'sig', alg: algorithmOf(key) });
  return { keys: [publish(first), ...others.map(publish)] };
}

/** Returns every key of the set, by its `kid`. */
export function importPublicKeys(set: KeySet): ReadonlyMap<string, PublicKey> {
  return new Map(
    set.keys.map((jwk) => {
      const algorithm = algorithmOf(jwk);
      return [jwk.kid, { key: createPublicKey({ key: publicJwk(jwk), format: 'jwk' }), algorithm }];
    }),
  );
}

/**
 * Returns the algorithm of the key, which its type and curve decide. Throws if there is none, or if the key's `alg` is
 * another. The error contains the `kid` and no part of the key.
 */
export function algorithmOf({ kid, ...jwk }: KeyEntry): AccessTokenAlgorithm {
  const algorithm = accessTokenAlgorithms.find((name) => kinds[name].kty === jwk.kty && kinds[name].crv === jwk.crv);
  if (algorithm === undefined) {
    const fitting = accessTokenAlgorithms.map((name) => `kty ${kinds[name].kty} and crv ${kinds[name].crv}`);
    throw new Error(
      `key ${kid} does not fit ${accessTokenAlgorithms.join(' or ')}: it must be of ${fitting.join(' or ')}`,
    );
  }
  const { names } = kinds[algorithm];
  if (jwk.alg === undefined || names.some((name) => name === jwk.alg)) return algorithm;
  throw new Error(`key ${kid} has another alg than its kty and crv: it must be ${algorithm}`);
}

function publicJwk({ kid, kty, crv, x, y }: KeyEntry): KeyEntry {
  return { kid, kty, crv, x, ...(y === undefined ? {} : { y }) };
}
