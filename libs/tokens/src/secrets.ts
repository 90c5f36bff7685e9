import type { KeyObject } from 'node:crypto';
import { type KeySet, type KeySource, oncePerSet } from '@auth-account/verifier/access-token';
import { readSecret } from './read-secret.ts';

/**
 * Thrown for what was made under a key that is not in this process's file. Another process may have a newer file, so
 * it says nothing about what was made.
 */
export class MissingKeyError extends Error {
  override readonly name = 'MissingKeyError';
  /** Undefined if what was made does not name its key. */
  readonly kid: string | undefined;
  readonly kind: KeptKeyKind;
  constructor(kid: string | undefined, kind: KeptKeyKind = 'server') {
    super(`no ${kind} key ${kid === undefined ? 'fits' : `has the kid ${kid}`}`);
    this.kid = kid;
    this.kind = kind;
  }
}

/** Kinds of the keys on which stored data depends. */
export type KeptKeyKind = 'server' | 'refresh';

/** Symmetric keys of a source, by their `kid`. */
export interface Secrets {
  get(kid: string): KeyObject | undefined;
}

/**
 * Creates the secrets of a source. Each key set is read only once, and the present set is read now. Throws for a key
 * that is not symmetric or is too short.
 */
export function createSecrets(source: KeySource): Secrets {
  const secretsOf = oncePerSet(readSecrets);
  secretsOf(source.current());
  return { get: (kid) => secretsOf(source.current()).get(kid) };
}

/** Returns the secrets of a set by `kid`. Throws for a key that is not symmetric or is too short. */
export function readSecrets(set: KeySet): Map<string, KeyObject> {
  return new Map(set.keys.map((key) => [key.kid, readSecret(key)]));
}
