import type { KeyObject } from 'node:crypto';
import { type KeySource, oncePerSet } from './key-source.ts';
import { type AccessTokenAlgorithm, importPublicKeys } from './public-keys.ts';

/** Returns the public key of that id; undefined if there is none, also after another look. */
export type FindKey = (kid: string) => Promise<KeyObject | undefined>;

/**
 * Creates the function that finds a key of the source, which looks again if the id is unknown: the key may be new.
 * Throws if the present keys do not fit the algorithm.
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
