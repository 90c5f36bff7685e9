import { createPrivateKey, type KeyObject } from 'node:crypto';
import {
  algorithmOf,
  importPublicKeys,
  isSignedBy,
  type KeyEntry,
  type KeySet,
} from '@auth-account/verifier/access-token';
import { type SigningKey, signJwt } from './sign-jwt.ts';

/** Members of a JWK that only its owner may know: RFC 7518, sections 6.2.2, 6.3.2 and 6.4, and RFC 8037, section 2. */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

/**
 * Throws if a key of the set is of no kind that access tokens have. For `sign` it also throws if the first key has no private part. For
 * `verify` it also throws if any key has a private part, because a verifier must not be able to sign. The error
 * contains the key's `kid` and no part of the key.
 */
export function assertAccessTokenKeys(set: KeySet, use: 'sign' | 'verify'): void {
  if (use === 'verify') assertPublicOnly(set);
  importPublicKeys(set);
  if (use === 'sign') importSigningKey(set);
}

/** Returns the set's first key with its private part. Throws if the key has no private part. */
export function importSigningKey({ keys: [first] }: KeySet): SigningKey {
  const algorithm = algorithmOf(first);
  const { kid, d } = first;
  if (d === undefined) throw new Error(`key ${kid} cannot sign: it has no private part`);
  const key = readPrivatePart(first);
  const published = importPublicKeys({ keys: [first] }).get(kid);
  // The private part must belong to the public part. Otherwise every verifier with the published key would refuse the
  // tokens.
  if (!key || !published || !isSignedBy(published, signJwt({}, '', { kid, key, algorithm }))) {
    throw new Error(`key ${kid} cannot sign: its private part does not belong to its public one`);
  }
  return { kid, key, algorithm };
}

/** Returns undefined if the JWK is not a private key, because Node's own error would not name the key. */
function readPrivatePart(jwk: KeyEntry): KeyObject | undefined {
  try {
    return createPrivateKey({ key: jwk, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function assertPublicOnly({ keys }: KeySet): void {
  for (const key of keys) {
    const found = privateMembers.filter((member) => key[member] !== undefined);
    if (found.length === 0) continue;
    const refusal = `key ${key.kid} has a private part (${found.join(', ')})`;
    throw new Error(`${refusal}: only public keys belong here, as \`authctl keys public\` writes them`);
  }
}
