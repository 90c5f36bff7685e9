import { randomBytes } from 'node:crypto';
import { withSpan } from '@auth-account/telemetry';
import type { Argon2Binding, Argon2Cost } from './argon2-binding.ts';
import { type BcryptBinding, isBcryptHash } from './bcrypt-binding.ts';
import type { HashGate } from './hash-gate.ts';

/**
 * Hashes and verifies passwords; every call goes through the hash gate and may raise `ERR-OVERLOADED`, for which the time
 * counts from when the request was received (on the clock of `performance.now()`; now unless told).
 */
export interface PasswordHasher {
  /** Runs a request that is going to need a hash, or raises `ERR-OVERLOADED` at once: see the gate. */
  readonly admit: HashGate['admit'];
  /** PHC string of the password after NFKC, with a random salt. */
  hash(password: string, receivedAt?: number): Promise<string>;
  /**
   * Compares with the stored hash, an Argon2 one or one of bcrypt's that was imported; without one, with a hash of
   * nobody's, so that both take the same time.
   */
  verify(stored: string | undefined, password: string, receivedAt?: number): Promise<boolean>;
  /** Was the hash made with less than the configured cost, or by something else than Argon2id? */
  isWeak(stored: string): boolean;
}

export interface PasswordHasherDeps {
  readonly argon2: Argon2Binding;
  readonly bcrypt: BcryptBinding;
  readonly gate: HashGate;
  readonly cost: Argon2Cost;
}

/** Makes the hasher, and with it the hash that stands in for unknown accounts. */
export async function createPasswordHasher(deps: PasswordHasherDeps): Promise<PasswordHasher> {
  const { argon2, bcrypt, gate, cost } = deps;
  const nobodys = await argon2.hash(randomBytes(24).toString('base64url'), cost);
  const compare = (stored: string, password: string) =>
    isBcryptHash(stored) ? bcrypt.verify(stored, password) : argon2.verify(stored, normalize(password));
  return {
    admit: gate.admit,
    hash: (password, receivedAt) =>
      withSpan('password.hash', {}, () => gate.run(() => argon2.hash(normalize(password), cost), receivedAt)),
    async verify(stored, password, receivedAt) {
      const isEqual = await withSpan('password.verify', {}, () =>
        gate.run(() => compare(stored ?? nobodys, password), receivedAt),
      );
      // The bindings take a lone surrogate for U+FFFD: what is no text equals no password.
      return isEqual && stored !== undefined && password.isWellFormed();
    },
    isWeak: (stored) => isWeaker(stored, cost),
  };
}

/** NIST SP 800-63B-4, 3.1.1.2: one password, however a keyboard composes it. */
function normalize(password: string): string {
  return password.normalize('NFKC');
}

function isWeaker(phc: string, cost: Argon2Cost): boolean {
  const [, parameters] = /^\$argon2id\$v=19\$([^$]+)\$/.exec(phc) ?? [];
  if (parameters === undefined) return true;
  // By name: one binding writes m,t,p and the other m,p,t.
  const {
    m = 0,
    t = 0,
    p = 0,
  } = Object.fromEntries(parameters.split(',').map((pair) => [pair.slice(0, 1), Number(pair.slice(2))]));
  return m < cost.memoryKib || t < cost.passes || p < cost.lanes;
}
