import type { KeyObject } from 'node:crypto';
import { type KeySource, oncePerSet } from './key-source.ts';
import { type AccessTokenAlgorithm, importPublicKeys } from './public-keys.ts';

/** Returns the public key with this id, or undefined if there is none even after another look. */
export type FindKey = (kid: string) => Promise<KeyObject | undefined>;

/**
 * Creates the function that finds a key in the source. An unknown id may belong to a new key, so the source looks
 * again. Throws if the present keys do not fit the algorithm.
 */
export function createKeyFinder(source: KeySource, algorithm: AccessTokenAlgorithm): FindKey {
  const publicKeys = oncePerSet((set) => importPublicKeys(set, algorithm));
  publicKeys(source.current());
  return async (kid) => {
    const known = publicKeys(source.current()).get(kid);
    if (known !== undefined) return known;
    await source.reread();
    return publicKeys(source.current()).get(kid);
  };
}
