import { type KeySet, type KeySource, readSecret } from '@auth-account/tokens';

/** The secrets of a set of symmetric keys, in its order. Throws if a key is none, or too short. */
export function readServerSecrets({ keys }: KeySet): Buffer[] {
  return keys.map(readSecret);
}

/** The server's secrets as they now are, the newest first. */
export type ServerSecrets = () => readonly [Buffer, ...Buffer[]];

/** Reads each set of the source once. */
export function createServerSecrets(source: Pick<KeySource, 'current'>): ServerSecrets {
  let seen: KeySet | undefined;
  let secrets: Buffer[] = [];
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
