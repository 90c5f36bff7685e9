import {
  type AccessTokenAlgorithm,
  assertFits,
  importPublicKeys,
  type KeySet,
} from '@auth-account/verifier/access-token';
import { type CryptoKey, importJWK, type JWK } from 'jose';

/** Members of a JWK that only its owner may know: RFC 7518, sections 6.2.2, 6.3.2 and 6.4, and RFC 8037, section 2. */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

/**
 * Rejects a set that does not fit the algorithm. For `sign` it also rejects a set whose first key has no private part,
 * for `verify` a set in which any key has one: a verifier must not be able to sign. The error names the key's `kid` and
 * no part of the key.
 */
export async function assertAccessTokenKeys(
  set: KeySet,
  algorithm: AccessTokenAlgorithm,
  use: 'sign' | 'verify',
): Promise<void> {
  if (use === 'verify') assertPublicOnly(set);
  importPublicKeys(set, algorithm);
  if (use === 'sign') await importSigningKey(set, algorithm);
}

/** Returns the first key of the set, with its private part. */
export async function importSigningKey(
  { keys: [first] }: KeySet,
  algorithm: AccessTokenAlgorithm,
): Promise<{ readonly kid: string; readonly key: CryptoKey }> {
  assertFits(first, algorithm);
  // Only a symmetric key would be bytes, and that fits no algorithm.
  const key = (await importJWK(first as JWK, algorithm)) as CryptoKey;
  if (key.type !== 'private') throw new Error(`key ${first.kid} cannot sign: it has no private part`);
  return { kid: first.kid, key };
}

function assertPublicOnly({ keys }: KeySet): void {
  for (const key of keys) {
    const found = privateMembers.filter((member) => key[member] !== undefined);
    if (found.length === 0) continue;
    const refusal = `key ${key.kid} has a private part (${found.join(', ')})`;
    throw new Error(`${refusal}: only public keys belong here, as \`authctl keys public\` writes them`);
  }
}
