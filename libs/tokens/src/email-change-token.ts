import { createHmac, timingSafeEqual } from 'node:crypto';
import { type KeySet, type KeySource, toKeySource } from '@auth-account/verifier/access-token';
import { createSecrets } from './secrets.ts';

/** Derives and verifies the tokens of mails that undo a change. The tokens are not stored. */
export interface UndoTokens {
  /** Returns the token of a change, for its mail. */
  issue(changeId: string): string;
  /** Looks for newer keys, if the keys come from a source. */
  rereadKeys(): Promise<void>;
  /** Returns the id of a genuine token's change, or undefined for any other string. Compares in constant time. */
  verify(token: string): string | undefined;
  /** Returns the id that a token names whose key is not here, so that nothing proves it; otherwise undefined. */
  unprovenId(token: string): string | undefined;
}

const macLength = 32;
const idLength = 16;

/** Creates the tokens that undo a change of the email address. */
export function createEmailChangeTokens(keys: KeySet | KeySource): UndoTokens {
  return createUndoTokens('email-change-undo', keys);
}

/** Creates the tokens that stop an ordered removal of the second factor. */
export function createRemovalStopTokens(keys: KeySet | KeySource): UndoTokens {
  return createUndoTokens('second-factor-removal-stop', keys);
}

/**
 * Creates the tokens from a key file with symmetric keys of at least 256 bits. A token is the base64url text of three
 * parts: an HMAC-SHA-256 over the change's id, the id itself, and the `kid`. Because of the `kid`, a token stays valid
 * after a rotation until its key is removed. The label separates these HMACs from others made with the same keys. Throws
 * for keys of another kind or shorter keys.
 */
function createUndoTokens(label: string, keys: KeySet | KeySource): UndoTokens {
  const source = toKeySource(keys);
  const secrets = createSecrets(source);

  function seal(kid: string, changeId: Buffer): Buffer | undefined {
    const secret = secrets.get(kid);
    const message = JSON.stringify([label, kid, changeId.toString('hex')]);
    return secret && createHmac('sha256', secret).update(message).digest();
  }

  return {
    issue(changeId) {
      const { kid } = source.current().keys[0];
      const id = Buffer.from(changeId.replaceAll('-', ''), 'hex');
      const mac = seal(kid, id);
      if (mac === undefined || id.length !== idLength) throw new TypeError('the id of a change must be a UUID');
      return Buffer.concat([mac, id, Buffer.from(kid)]).toString('base64url');
    },
    rereadKeys: () => source.reread(),
    verify(token) {
      const parts = parse(token);
      const mac = parts && seal(parts.kid, parts.id);
      return mac && timingSafeEqual(mac, parts.mac) ? uuidOf(parts.id) : undefined;
    },
    unprovenId(token) {
      const parts = parse(token);
      return parts && secrets.get(parts.kid) === undefined ? uuidOf(parts.id) : undefined;
    },
  };
}

function parse(token: string) {
  const bytes = Buffer.from(token, 'base64url');
  // Node's decoder skips characters that are not base64url, but only the exact text that we issue counts as a token.
  if (bytes.length <= macLength + idLength || bytes.toString('base64url') !== token) return;
  const [mac, id] = [bytes.subarray(0, macLength), bytes.subarray(macLength, macLength + idLength)];
  return { mac, id, kid: bytes.toString('utf8', macLength + idLength) };
}

const uuidOf = (id: Buffer) => id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
