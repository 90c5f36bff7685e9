import { createCipheriv, createDecipheriv, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { type KeySet, type KeySource, oncePerSet, toKeySource } from '@auth-account/verifier/access-token';
import { MissingKeyError, readSecrets } from './secrets.ts';

/**
 * Purpose of a sealed token. A token of one purpose is no token of another, because each purpose has keys of its own.
 */
export type SealLabel =
  | 'second-factor'
  | 'step-up'
  | 'step-up-token'
  | 'passkey'
  | 'passkey-login'
  | 'federated'
  | 'link';

/** Tokens whose content only this service can read or make: challenges that are stored nowhere. */
export interface SealedTokens {
  /** Returns the token with that content, which must be JSON. */
  seal(label: SealLabel, content: object): string;
  /**
   * Returns the content of a token of that purpose; undefined for any other text. Throws {@link MissingKeyError} if the
   * text names a key that is not here, even after a look for newer keys: another process may have made it.
   */
  open(label: SealLabel, token: string): Promise<unknown>;
}

const ivLength = 12;
const tagLength = 16;

/**
 * Creates the sealed tokens from a key file with symmetric keys of at least 256 bits. A token is `kid.text`, where
 * `text` is the base64url form of 96 random bits, the AES-256-GCM ciphertext and its tag. The key is derived from the
 * server key for each purpose (HKDF-SHA-256, RFC 5869). A change of the key source applies from the next call on.
 */
export function createSealedTokens(keys: KeySet | KeySource): SealedTokens {
  const source = toKeySource(keys);
  const derivedOf = oncePerSet((set) => createDerived(readSecrets(set)));
  derivedOf(source.current());
  const aadOf = (label: SealLabel, kid: string) => Buffer.from(JSON.stringify([label, kid]));

  return {
    seal(label, content) {
      const set = source.current();
      const { kid } = set.keys[0];
      const key = derivedOf(set)(kid, label);
      if (key === undefined) throw new Error('the server has no secret');
      const iv = randomBytes(ivLength);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(aadOf(label, kid));
      const text = Buffer.concat([iv, cipher.update(JSON.stringify(content)), cipher.final(), cipher.getAuthTag()]);
      return `${kid}.${text.toString('base64url')}`;
    },
    async open(label, token) {
      const end = token.lastIndexOf('.');
      const kid = token.slice(0, end);
      const bytes = Buffer.from(token.slice(end + 1), 'base64url');
      // Node's decoder skips characters that are not base64url, but only the exact text that we issue counts as a
      // token.
      const isText = end > 0 && bytes.toString('base64url') === token.slice(end + 1);
      if (!isText || bytes.length <= ivLength + tagLength) return;
      let key = derivedOf(source.current())(kid, label);
      if (key === undefined) {
        await source.reread();
        key = derivedOf(source.current())(kid, label);
      }
      if (key === undefined) throw new MissingKeyError(kid);
      return decrypt(key, bytes, aadOf(label, kid));
    },
  };
}

/** Returns the key of a `kid` for a purpose. Each key is derived once. */
function createDerived(secrets: ReadonlyMap<string, KeyObject>) {
  const derived = new Map<string, Buffer>();
  return (kid: string, label: SealLabel): Buffer | undefined => {
    const secret = secrets.get(kid);
    if (secret === undefined) return;
    const name = JSON.stringify([label, kid]);
    const key = derived.get(name) ?? Buffer.from(hkdfSync('sha256', secret, '', `sealed-token:${label}`, 32));
    derived.set(name, key);
    return key;
  };
}

function decrypt(key: Buffer, bytes: Buffer, aad: Buffer): unknown {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivLength), { authTagLength: tagLength });
  decipher.setAAD(aad).setAuthTag(bytes.subarray(-tagLength));
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(ivLength, -tagLength)), decipher.final()]);
    return JSON.parse(text.toString('utf8'));
  } catch {
    // The tag does not fit: the token was not made by this service, or for another purpose.
    return;
  }
}
