import { createHash, timingSafeEqual } from 'node:crypto';
import { readSecret } from '@auth-account/tokens';
import { type KeySet, type KeySource, oncePerSet } from '@auth-account/verifier/access-token';

/** An internal service that has authenticated with one of its secrets. */
export interface InternalService {
  readonly name: string;
  /** Id of the secret. */
  readonly kid: string;
}

/** Finds the internal service with that credential (`kid.secret`); undefined if none has it. */
export type FindInternalService = (credential: string) => InternalService | undefined;

interface KnownSecret extends InternalService {
  readonly digest: Buffer;
}

/** The service's name, and an optional suffix that distinguishes its secrets. */
const kidPattern = /^(?<name>[a-z0-9][a-z0-9-]{0,31})(?:\.[A-Za-z0-9-]{1,32})?$/;

/** A value that is not the digest of any secret. */
const nobody = Buffer.alloc(32);

/**
 * Reads the secrets of internal services by their `kid`. Throws if a key is not symmetric or is too short, or if its
 * `kid` is not of the form `name` or `name.suffix`. Several secrets of one name are valid at the same time.
 */
export function readInternalServiceSecrets({ keys }: KeySet): ReadonlyMap<string, KnownSecret> {
  return new Map(
    keys.map((key) => {
      const name = kidPattern.exec(key.kid)?.groups?.name;
      if (name === undefined)
        throw new Error(`the kid ${key.kid} is no name of an internal service, such as pantry or pantry.2`);
      readSecret(key);
      return [key.kid, { name, kid: key.kid, digest: digestOf(String(key.k)) }];
    }),
  );
}

/** Finds internal services by the source's present secrets. */
export function createFindInternalService(source: Pick<KeySource, 'current'>): FindInternalService {
  const secretsOf = oncePerSet(readInternalServiceSecrets);
  return (credential) => {
    const end = credential.lastIndexOf('.');
    const known = secretsOf(source.current()).get(credential.slice(0, Math.max(end, 0)));
    const isRight = timingSafeEqual(digestOf(credential.slice(end + 1)), known?.digest ?? nobody);
    return known !== undefined && isRight ? { name: known.name, kid: known.kid } : undefined;
  };
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
