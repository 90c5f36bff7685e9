import type { KeySet, KeySource } from '@auth-account/tokens';

/** 256 bits: as much as the HMACs that are made with them have. */
const minimumLength = 32;

/**
 * The secrets of a set of symmetric keys (`kty` `oct`, RFC 7518 section 6.4), in its order. Throws for a key of another
 * kind, or of less than 256 bits.
 */
export function readServerSecrets({ keys }: KeySet): Buffer[] {
  return keys.map(({ kid, kty, k }) => {
    const secret = kty === 'oct' && typeof k === 'string' ? Buffer.from(k, 'base64url') : undefined;
    if (secret === undefined || secret.length < minimumLength) {
      throw new Error(`key ${kid} is no symmetric key of 256 bits or more`);
    }
    return secret;
  });
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
