import { createPublicKey, type KeyObject } from 'node:crypto';
import { type CryptoKey, importJWK, type JWK } from 'jose';
import type { KeyEntry, KeySet } from './key-file.ts';

/** The algorithms that a deployment may choose; only the chosen one is accepted. */
export type AccessTokenAlgorithm = 'EdDSA' | 'ES256';

const kinds = {
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  ES256: { kty: 'EC', crv: 'P-256' },
} as const satisfies Record<AccessTokenAlgorithm, object>;

/** Rejects a set that does not fit the algorithm, or, for `sign`, whose first key has no private part. */
export async function assertAccessTokenKeys(
  set: KeySet,
  algorithm: AccessTokenAlgorithm,
  use: 'sign' | 'verify',
): Promise<void> {
  importPublicKeys(set, algorithm);
  if (use === 'sign') await importSigningKey(set, algorithm);
}

/** The public half of the set, for `/.well-known/jwks.json`. */
export function publicKeySet(keys: KeySet, algorithm: AccessTokenAlgorithm): { keys: JWK[] } {
  return { keys: keys.keys.map((key) => ({ ...publicJwk(key), use: 'sig', alg: algorithm })) };
}

/** Every key of the set, by its `kid`. */
export function importPublicKeys(set: KeySet, algorithm: AccessTokenAlgorithm): ReadonlyMap<string, KeyObject> {
  return new Map(
    set.keys.map((key) => {
      assertFits(key, algorithm);
      return [key.kid, createPublicKey({ key: publicJwk(key), format: 'jwk' })];
    }),
  );
}

/** The first key of the set, with its private part. */
export async function importSigningKey(
  { keys: [first] }: KeySet,
  algorithm: AccessTokenAlgorithm,
): Promise<{ readonly kid: string; readonly key: CryptoKey }> {
  assertFits(first, algorithm);
  // Only a symmetric key would come as bytes, and that fits no algorithm.
  const key = (await importJWK(first as JWK, algorithm)) as CryptoKey;
  if (key.type !== 'private') throw new Error(`key ${first.kid} cannot sign: it has no private part`);
  return { kid: first.kid, key };
}

function assertFits({ kid, ...jwk }: KeyEntry, algorithm: AccessTokenAlgorithm): void {
  const { kty, crv } = kinds[algorithm];
  if (jwk.kty === kty && jwk.crv === crv) return;
  throw new Error(`key ${kid} does not fit ${algorithm}: it must be of kty ${kty} and crv ${crv}`);
}

function publicJwk({ kid, kty, crv, x, y }: KeyEntry): KeyEntry {
  return { kid, kty, crv, x, ...(y === undefined ? {} : { y }) };
}
