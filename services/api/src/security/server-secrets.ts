import type { KeyObject } from 'node:crypto';
import { readSecret } from '@auth-account/tokens';
import type { KeySet, KeySource } from '@auth-account/verifier/access-token';

/** Returns the secrets of a set of symmetric keys, in its order. Throws if a key is not symmetric or is too short. */
export function readServerSecrets({ keys }: KeySet): KeyObject[] {
  return keys.map(readSecret);
}

/** Returns the server's present secrets, newest first. */
export type ServerSecrets = () => readonly [KeyObject, ...KeyObject[]];

/** Reads the server's secrets. It reads each key set of the source only once. */
export function createServerSecrets(source: Pick<KeySource, 'current'>): ServerSecrets {
  let seen: KeySet | undefined;
  let secrets: KeyObject[] = [];
  return () => {
    const set = source.current();
    if (set !== seen) {
      secrets = readServerSecrets(set);
      seen = set;
    }
    const [newest, ...others] = secrets;
    if (newest === undefined) throw new Error('the server has no secret');
    return [newest, ...others];
  };
}
