import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CodePurpose } from '@auth-account/contracts/events';
import { type KeySet, type KeySource, toKeySource } from '@auth-account/verifier/access-token';
import { createSecrets, MissingKeyError } from './secrets.ts';

/** Everything that a code is bound to. */
export interface EmailCodeParts {
  /** Id of the key. The challenge stores it, so that api and worker derive the same code while keys rotate. */
  readonly kid: string;
  readonly challengeId: string;
  readonly purpose: CodePurpose;
  readonly userId: string;
  /** The lookup key of the email address to which the code is sent. */
  readonly emailKey: string;
}

/** Derives and compares the codes that are sent by e-mail. The codes are not stored. */
export interface EmailCodes {
  /** Id of the key for new challenges. It is the first key of the present file. */
  readonly currentKid: string;
  /** Returns true if this process has the key. Another process may have a newer key file. */
  hasKey(kid: string): boolean;
  /** Looks for newer keys, if the keys come from a source. */
  rereadKeys(): Promise<void>;
  /** Returns the code: 8 decimal digits, the same in every process. Throws {@link MissingKeyError}. */
  codeOf(parts: EmailCodeParts): string;
  /** Compares in constant time. Throws {@link MissingKeyError}. */
  isCodeOf(parts: EmailCodeParts, code: string): boolean;
}

/** Separates these HMACs from others made with the same keys. */
const label = 'email-code';
const digits = 8;

/**
 * Creates the codes from a key file with symmetric keys (`kty` `oct`, RFC 7518 section 6.4) of at least 256 bits. A
 * code is the last 8 decimal digits of an HMAC-SHA-256 over all of {@link EmailCodeParts}, so that neither the keys nor
 * the database alone are enough to derive a code. A change of the key source applies from the next call on. Throws for
 * keys of another kind or shorter keys.
 */
export function createEmailCodes(keys: KeySet | KeySource): EmailCodes {
  const source = toKeySource(keys);
  const secrets = createSecrets(source);

  function codeOf({ kid, challengeId, purpose, userId, emailKey }: EmailCodeParts): string {
    const secret = secrets.get(kid);
    if (secret === undefined) throw new MissingKeyError(kid);
    const message = JSON.stringify([label, challengeId, purpose, userId, emailKey]);
    const mac = createHmac('sha256', secret).update(message).digest('hex');
    return (BigInt(`0x${mac}`) % 10n ** BigInt(digits)).toString().padStart(digits, '0');
  }

  return {
    get currentKid() {
      return source.current().keys[0].kid;
    },
    hasKey: (kid) => secrets.get(kid) !== undefined,
    rereadKeys: () => source.reread(),
    codeOf,
    isCodeOf(parts, code) {
      const right = Buffer.from(codeOf(parts));
      const given = Buffer.from(code);
      return given.length === right.length && timingSafeEqual(given, right);
    },
  };
}
