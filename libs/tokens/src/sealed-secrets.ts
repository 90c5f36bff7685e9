import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { type KeyEntry, type KeySet, type KeySource, toKeySource } from '@auth-account/verifier/access-token';
import { createSecrets, MissingKeyError } from './secrets.ts';

/** A secret in the form in which it is stored. */
export interface SealedSecret {
  /** Server key that seals the secret. */
  readonly kid: string;
  /** IV (12 bytes), ciphertext, tag (16). */
  readonly box: Buffer;
}

/** Owner of a sealed secret. A box that is moved to another user or factor cannot be opened. */
export interface SecretOwner {
  readonly userId: string;
  readonly factorId: string;
}

/** Seals and opens secrets of users, such as TOTP seeds. */
export interface SealedSecrets {
  /**
   * Ids of the key that seals, the first of the present file, and of keys that were published to be the first later. A
   * process with a newer file seals under one of these already.
   */
  readonly unusedKids: readonly string[];
  /** Returns true if this process has the key. Another process may have a newer key file. */
  hasKey(kid: string): boolean;
  /** Looks for newer keys, if the keys come from a source. */
  rereadKeys(): Promise<void>;
  seal(secret: Uint8Array, owner: SecretOwner): SealedSecret;
  /** Throws {@link MissingKeyError}, and for a box of another owner or one that was changed. */
  open(sealed: SealedSecret, owner: SecretOwner): Buffer;
}

/** Separates this use of the server's keys from others. */
const label = 'sealed-secret';
const algorithm = 'aes-256-gcm';
const ivLength = 12;
const tagLength = 16;

/**
 * Creates the seals from a key file with symmetric keys (`kty` `oct`) of at least 256 bits. A box is sealed with
 * AES-256-GCM under a random IV of 96 bits. User, factor and `kid` are authenticated with it. A change of the key source
 * applies from the next call on. Throws for keys of another kind or shorter keys.
 */
export function createSealedSecrets(keys: KeySet | KeySource): SealedSecrets {
  const source = toKeySource(keys);
  const secrets = createSecrets(source);

  function keyOf(kid: string): Buffer {
    const secret = secrets.get(kid);
    if (secret === undefined) throw new MissingKeyError(kid);
    return Buffer.from(hkdfSync('sha256', secret, '', label, 32));
  }

  return {
    get unusedKids() {
      return source.current().keys.flatMap((key, index) => (index === 0 || isNext(key) ? [key.kid] : []));
    },
    hasKey: (kid) => secrets.get(kid) !== undefined,
    rereadKeys: () => source.reread(),
    seal(secret, owner) {
      const { kid } = source.current().keys[0];
      const iv = randomBytes(ivLength);
      const cipher = createCipheriv(algorithm, keyOf(kid), iv, { authTagLength: tagLength });
      cipher.setAAD(contextOf(kid, owner));
      return { kid, box: Buffer.concat([iv, cipher.update(secret), cipher.final(), cipher.getAuthTag()]) };
    },
    open({ kid, box }, owner) {
      const [iv, text, tag] = [box.subarray(0, ivLength), box.subarray(ivLength, -tagLength), box.subarray(-tagLength)];
      const decipher = createDecipheriv(algorithm, keyOf(kid), iv, { authTagLength: tagLength });
      decipher.setAAD(contextOf(kid, owner));
      decipher.setAuthTag(tag);
      return Buffer.concat([decipher.update(text), decipher.final()]);
    },
  };
}

/** Returns true for a key that was published and has never been the first (`authctl keys rotate`). */
function isNext({ published_at, retired_at }: KeyEntry): boolean {
  return published_at !== undefined && retired_at === undefined;
}

function contextOf(kid: string, { userId, factorId }: SecretOwner): Buffer {
  return Buffer.from(JSON.stringify([label, userId, factorId, kid]));
}
