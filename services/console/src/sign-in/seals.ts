import { createHash, hkdfSync } from 'node:crypto';
import { EncryptJWT, errors, type JWTPayload, jwtDecrypt } from 'jose';

/** Kinds of what is sealed: a cookie of one kind is never taken for another. */
export type SealPurpose = 'session' | 'sign-in' | 'record';

export interface SealDeps {
  /** The first seals, all of them open. */
  readonly secrets: readonly string[];
  /** Origin of this console, whose seals no other one opens. */
  readonly origin: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface Seals {
  /** Seals facts until a time, in seconds since the epoch. */
  seal(purpose: SealPurpose, facts: JWTPayload, until: number): Promise<string>;
  /** Returns the facts, or undefined if the text was not sealed here for this purpose, or is too old. */
  open(purpose: SealPurpose, text: string): Promise<JWTPayload | undefined>;
}

/** Seals facts by AES-256-GCM (RFC 7516, `dir`), with keys that depend on purpose and console. */
export function createSeals({ secrets, origin, now }: SealDeps): Seals {
  const keysOf = (purpose: SealPurpose) => {
    const keys = secrets.map((secret) => new Uint8Array(hkdfSync('sha256', secret, origin, `console ${purpose}`, 32)));
    return new Map(keys.map((key) => [createHash('sha256').update(key).digest('base64url').slice(0, 8), key]));
  };
  const keys = { session: keysOf('session'), 'sign-in': keysOf('sign-in'), record: keysOf('record') };
  return {
    seal(purpose, facts, until) {
      const [[kid, key] = []] = [...keys[purpose]];
      if (key === undefined) throw new Error('there is no secret');
      const sealing = new EncryptJWT(facts).setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: String(kid) });
      return sealing.setExpirationTime(until).encrypt(key);
    },
    async open(purpose, text) {
      const options = {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        requiredClaims: ['exp'],
        currentDate: new Date(now()),
      };
      try {
        const { payload } = await jwtDecrypt(text, ({ kid = '' }) => keyOf(keys[purpose], kid), options);
        return payload;
      } catch (error) {
        if (error instanceof errors.JOSEError || error instanceof TypeError) return;
        throw error;
      }
    },
  };
}

function keyOf(keys: ReadonlyMap<string, Uint8Array>, kid: string): Uint8Array {
  const key = keys.get(kid);
  if (key === undefined) throw new errors.JWEDecryptionFailed();
  return key;
}
