import type { TokenHead } from './access-token-form.ts';
import { type KeySource, oncePerSet } from './key-source.ts';
import { importPublicKeys, type PublicKey } from './public-keys.ts';

/**
 * Returns the public key that a token's header names, or undefined if there is none even after another look, or if the
 * key has another algorithm than the header. So the token never chooses how it is verified.
 */
export type FindKey = (head: Pick<TokenHead, 'alg' | 'kid'>) => Promise<PublicKey | undefined>;

/**
 * Finds a key in the source. An unknown id may belong to a new key, so the source looks again. Throws if a present key
 * is of no accepted kind.
 */
export function createKeyFinder(source: KeySource): FindKey {
  const publicKeys = oncePerSet(importPublicKeys);
  publicKeys(source.current());
  return async ({ alg, kid }) => {
    if (!publicKeys(source.current()).has(kid)) await source.reread();
    const found = publicKeys(source.current()).get(kid);
    return found?.algorithm === alg ? found : undefined;
  };
}
