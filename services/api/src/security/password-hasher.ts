import { randomBytes } from 'node:crypto';
import { addressPrefix, type PrefixLength, withSpan } from '@auth-account/telemetry';
import type { Argon2Binding, Argon2Cost } from './argon2-binding.ts';
import { type BcryptBinding, isBcryptHash } from './bcrypt-binding.ts';
import type { HashGate } from './hash-gate.ts';

/**
 * The usual size of what a home or an office is given (RFC 6177): an IPv4 address, or a /56, which is 256 subscribers'
 * lines of /64. One line must not be able to take the whole gate, even if neighbours then share one share.
 */
const sitePrefix: PrefixLength = { v4: 32, v6: 56 };

/** The client that a hash is made for. */
export interface HashedFor {
  /** Its address: what clients of one network may hold of the gate they share. */
  readonly address: string | undefined;
  /** When its request was received, on the clock of `performance.now()`; now if it is not said. */
  readonly receivedAt?: number;
}

/** A place at the hash gate. It is for one call, which raises `ERR-OVERLOADED` if its slot comes too late or never. */
export interface HashTurn {
  /** PHC string of the password after NFKC, with a random salt. */
  hash(password: string): Promise<string>;
  /**
   * Compares with the stored hash, an Argon2 one or one of bcrypt's that was imported; without one, with a hash of
   * nobody's, so that both take the same time.
   */
  verify(stored: string | undefined, password: string): Promise<boolean>;
}

/** Hashes and verifies passwords, behind the hash gate. */
export interface PasswordHasher {
  /**
   * Takes a place at the gate for what is going to need a hash, for as long as it needs one. Raises `ERR-OVERLOADED` at
   * once if there is no place: see {@link HashGate}.
   */
  admit<T>(client: HashedFor, use: (turn: HashTurn) => Promise<T>): Promise<T>;
  /** Was the hash made with less than the configured cost, or by something else than Argon2id? */
  isWeak(stored: string): boolean;
}

export interface PasswordHasherDeps {
  readonly argon2: Argon2Binding;
  readonly bcrypt: BcryptBinding;
  readonly gate: HashGate;
  readonly cost: Argon2Cost;
}

/** Creates the hasher, and with it the hash that stands in for unknown accounts. */
export async function createPasswordHasher(deps: PasswordHasherDeps): Promise<PasswordHasher> {
  const { argon2, bcrypt, gate, cost } = deps;
  const nobodys = await argon2.hash(randomBytes(24).toString('base64url'), cost);
  const compare = (stored: string, password: string) =>
    isBcryptHash(stored) ? bcrypt.verify(stored, password) : argon2.verify(stored, normalize(password));
  return {
    admit: ({ address, receivedAt }, use) =>
      gate.admit({ source: addressPrefix(address, sitePrefix), receivedAt }, (run) =>
        use({
          hash: (password) => withSpan('password.hash', {}, () => run(() => argon2.hash(normalize(password), cost))),
          async verify(stored, password) {
            const isEqual = await withSpan('password.verify', {}, () =>
              run(() => compare(stored ?? nobodys, password)),
            );
            // The bindings take a lone surrogate for U+FFFD: what is no text equals no password.
            return isEqual && stored !== undefined && password.isWellFormed();
          },
        }),
      ),
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
