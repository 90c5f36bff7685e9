import { randomBytes } from 'node:crypto';
import { networkOf, type PrefixLength } from '@auth-account/lifecycle';
import { unusableHash } from '@auth-account/stores/unusable-hash';
import { withSpan } from '@auth-account/telemetry';
import type { Argon2Binding, Argon2Cost } from './argon2-binding.ts';
import { type BcryptBinding, isBcryptHash } from './bcrypt-binding.ts';
import type { HashGate } from './hash-gate.ts';

/**
 * Usual size of the network of a home or an office (RFC 6177): an IPv4 address, or an IPv6 /56, which has 256 networks
 * of /64. One subscriber must not be able to take the whole gate, even if neighbours then share one part of it.
 */
const sitePrefix: PrefixLength = { v4: 32, v6: 56 };

/** The client that a hash is made for. */
export interface HashedFor {
  /** The client's IP address. All clients of one network share the network's part of the gate. */
  readonly network: string | undefined;
  /** Time at which the request was received, on the clock of `performance.now()`; the present time by default. */
  readonly receivedAt?: number;
}

/** A queued hash, for one call. The call raises `ERR-OVERLOADED` if no slot is free in time. */
export interface HashTurn {
  /** Returns the PHC string of the password after NFKC, with a random salt. */
  hash(password: string): Promise<string>;
  /**
   * Compares the password with the stored hash, which is an Argon2 or an imported bcrypt hash. Without a stored hash it
   * compares with a dummy hash, so that both cases take the same time.
   */
  verify(stored: string | undefined, password: string): Promise<boolean>;
}

/** Hashes and verifies passwords, behind the hash gate. */
export interface PasswordHasher {
  /**
   * Queues a hash and runs `use`, which may make it. Raises `ERR-OVERLOADED` at once if the queue is full (see
   * {@link HashGate}).
   */
  admit<T>(client: HashedFor, use: (turn: HashTurn) => Promise<T>): Promise<T>;
  /**
   * Returns a hash that no known password has, for an account without a password. A login takes the same time as with
   * another hash.
   */
  unusableHash(): string;
  /** Returns true if the hash was made at less than the configured cost, or with another algorithm than Argon2id. */
  isWeak(stored: string): boolean;
}

export interface PasswordHasherDeps {
  readonly argon2: Argon2Binding;
  readonly bcrypt: BcryptBinding;
  readonly gate: HashGate;
  readonly cost: Argon2Cost;
}

/** Creates the hasher, with the dummy hash that is compared for unknown accounts. */
export async function createPasswordHasher(deps: PasswordHasherDeps): Promise<PasswordHasher> {
  const { argon2, bcrypt, gate, cost } = deps;
  const nobodys = await argon2.hash(randomBytes(24).toString('base64url'), cost);
  const compare = (stored: string, password: string) =>
    isBcryptHash(stored) ? bcrypt.verify(stored, password) : argon2.verify(stored, normalize(password));
  return {
    admit: ({ network, receivedAt }, use) =>
      gate.admit({ source: networkOf(network, sitePrefix), receivedAt }, (run) =>
        use({
          hash: (password) => withSpan('password.hash', {}, () => run(() => argon2.hash(normalize(password), cost))),
          async verify(stored, password) {
            const isEqual = await withSpan('password.verify', {}, () =>
              run(() => compare(stored ?? nobodys, password)),
            );
            // The bindings read a lone surrogate as U+FFFD, so without this check an ill-formed string could equal
            // another password.
            return isEqual && stored !== undefined && password.isWellFormed();
          },
        }),
      ),
    unusableHash: () => unusableHash(nobodys),
    isWeak: (stored) => isWeaker(stored, cost),
  };
}

/** NIST SP 800-63B-4, section 3.1.1.2: the same password must match, however a keyboard composes its characters. */
function normalize(password: string): string {
  return password.normalize('NFKC');
}

function isWeaker(phc: string, cost: Argon2Cost): boolean {
  const [, parameters] = /^\$argon2id\$v=19\$([^$]+)\$/.exec(phc) ?? [];
  if (parameters === undefined) return true;
  // Parameters are read by name, because one binding writes m,t,p and the other m,p,t.
  const {
    m = 0,
    t = 0,
    p = 0,
  } = Object.fromEntries(parameters.split(',').map((pair) => [pair.slice(0, 1), Number(pair.slice(2))]));
  return m < cost.memoryKib || t < cost.passes || p < cost.lanes;
}
