import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { type KeySet, type KeySource, toKeySource } from '@auth-account/verifier/access-token';
import { createSecrets, readSecrets } from './secrets.ts';

/** Contents of a refresh token that was read but not verified. */
export interface RefreshTokenParts {
  readonly kid: string;
  readonly sessionId: string;
  readonly generation: number;
}

/**
 * Creates and verifies refresh tokens. They are opaque to clients (docs/specification/refresh.md, "Refresh tokens").
 */
export interface RefreshTokens {
  /** Id of the key for new sessions and rotations. It is the first key of the present file. */
  readonly currentKid: string;
  /** Returns true if tokens of this key can be created and verified here. Another process may have a newer key file. */
  hasKey(kid: string): boolean;
  /** Looks for newer keys, if the keys come from a source. */
  rereadKeys(): Promise<void>;
  /**
   * Returns the token of the session, generation and key in `parts`. The same parts give the same token in every
   * process. Throws for an unknown key.
   */
  issue(parts: RefreshTokenParts, nonce: Buffer): string;
  /** Returns the parts of a well-formed token, or undefined for any other string. It does not verify the token. */
  parse(token: string): RefreshTokenParts | undefined;
  /**
   * Returns true if this token was created by a holder of its key for the session with this nonce. Compares in constant
   * time.
   */
  isGenuine(token: string, nonce: Buffer): boolean;
}

/** Layout: version (1 byte), length of the kid (1), kid, session (16), generation (4, big-endian), HMAC-SHA256 (32). */
const version = 1;
const macLength = 32;
const tailLength = 16 + 4 + macLength;
const maximumGeneration = 0xffff_ffff;

/** Returns the SHA-256 of a token as base64url. The session's `token` field holds this hash instead of the token. */
export function refreshTokenHash(token: string): string {
  return hash('sha256', token, 'base64url');
}

/**
 * Creates the issuer and verifier of refresh tokens from a key file with symmetric keys (`kty` `oct`, RFC 7518 section
 * 6.4) of at least 256 bits. A token has an HMAC over its parts and the session's random nonce, so that neither the
 * keys nor the database alone are enough to make a token. A change of the key source applies from the next call on.
 * Throws for keys of another kind or shorter keys.
 */
export function createRefreshTokens(keys: KeySet | KeySource): RefreshTokens {
  const source = toKeySource(keys);
  const secrets = createSecrets(source);

  function seal(head: Buffer, kid: string, nonce: Buffer): Buffer | undefined {
    const key = secrets.get(kid);
    return key && createHmac('sha256', key).update(head).update(nonce).digest();
  }

  return {
    get currentKid() {
      return source.current().keys[0].kid;
    },
    hasKey: (kid) => secrets.get(kid) !== undefined,
    rereadKeys: () => source.reread(),
    issue(parts, nonce) {
      const head = encodeHead(parts);
      const mac = seal(head, parts.kid, nonce);
      if (mac === undefined) throw new Error(`no refresh token key has the kid ${parts.kid}`);
      return Buffer.concat([head, mac]).toString('base64url');
    },
    parse: (token) => decode(token)?.parts,
    isGenuine(token, nonce) {
      const decoded = decode(token);
      if (decoded === undefined) return false;
      const mac = seal(decoded.head, decoded.parts.kid, nonce);
      return mac !== undefined && timingSafeEqual(mac, decoded.mac);
    },
  };
}

/** Throws if a key of the set can't create refresh tokens. */
export function assertRefreshTokenKeys(set: KeySet): void {
  readSecrets(set);
}

function encodeHead({ kid, sessionId, generation }: RefreshTokenParts): Buffer {
  if (generation > maximumGeneration) throw new RangeError('the generation of a refresh token does not fit 32 bits');
  const name = Buffer.from(kid);
  const number = Buffer.alloc(4);
  number.writeUInt32BE(generation);
  return Buffer.concat([Buffer.from([version, name.length]), name, uuidToBytes(sessionId), number]);
}

function decode(token: string): { parts: RefreshTokenParts; head: Buffer; mac: Buffer } | undefined {
  const bytes = Buffer.from(token, 'base64url');
  // Node's decoder skips characters that are not base64url, but only the exact text that we issue counts as a token.
  if (bytes.toString('base64url') !== token) return undefined;
  const nameLength = bytes[1] ?? 0;
  if (bytes[0] !== version || nameLength === 0 || bytes.length !== 2 + nameLength + tailLength) return undefined;
  const at = 2 + nameLength;
  const parts = {
    kid: bytes.toString('utf8', 2, at),
    sessionId: bytesToUuid(bytes.subarray(at, at + 16)),
    generation: bytes.readUInt32BE(at + 16),
  };
  return { parts, head: bytes.subarray(0, bytes.length - macLength), mac: bytes.subarray(bytes.length - macLength) };
}

function uuidToBytes(uuid: string): Buffer {
  const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex');
  if (bytes.length !== 16) throw new TypeError('a session id must be a UUID');
  return bytes;
}

function bytesToUuid(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
