import { type AccessTokenAlgorithm, accessTokenAlgorithms } from './public-keys.ts';

/** Limit for the length of an access token, in characters. Ours have about 700. */
const maxToken = 4_096;

/** Limit for the length of a token's header, in characters. Ours have about 80. */
const maxHeader = 512;

const signatureLength = 86;

/**
 * A signature of 64 bytes (for Ed25519 and P-256 alike), in the only canonical base64url spelling: it has no padding,
 * and no unused bits are set in the last character. JOSE libraries, ours among them, accept other spellings too.
 */
const signaturePattern = /^[\w-]{85}[AQgw]$/;

/** Contents of a token that was read but not verified. */
export interface TokenText {
  readonly alg: AccessTokenAlgorithm;
  readonly kid: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Header of a token that was read but not verified. */
export interface TokenHead {
  readonly alg: AccessTokenAlgorithm;
  readonly kid: string;
  /** Returns the claims, or undefined if they are not written the way our signer writes them. */
  readonly readPayload: () => TokenText['payload'] | undefined;
}

/**
 * Reads a token that is written the way our signer writes it. It has exactly the three header members that the signer
 * sets (so no `jwk`, `jku`, `x5u`, `crit`, `b64`, `zip`), and its JSON reads back to the same text (no member twice, no
 * white space). Returns undefined for any other string. It does not verify the token.
 */
export function readTokenText(token: string, type: string): TokenText | undefined {
  const head = token.length <= maxToken ? readTokenHead(token, type) : undefined;
  const payload = head?.readPayload();
  return head && payload && { alg: head.alg, kid: head.kid, payload };
}

/**
 * Reads only the header, in a time that does not depend on the length of the claims. If a text may be long, its caller
 * checks the signature before it calls `readPayload`. Returns undefined in the same cases as `readTokenText`.
 */
export function readTokenHead(token: string, type: string): TokenHead | undefined {
  const headEnd = token.slice(0, maxHeader + 1).indexOf('.');
  const bodyEnd = token.length - signatureLength - 1;
  const hasForm = headEnd > 0 && bodyEnd > headEnd && token[bodyEnd] === '.';
  if (!hasForm || !signaturePattern.test(token.slice(bodyEnd + 1))) return undefined;
  const header = parseExactly(token.slice(0, headEnd));
  if (header === undefined) return undefined;
  const { typ, kid, ...others } = header;
  const alg = accessTokenAlgorithms.find((name) => name === others.alg);
  const isOurs = typ === type && Object.keys(others).length === 1;
  if (alg === undefined || !isOurs || typeof kid !== 'string') return undefined;
  return { alg, kid, readPayload: () => parseExactly(token.slice(headEnd + 1, bodyEnd)) };
}

function parseExactly(part: string): Record<string, unknown> | undefined {
  const text = Buffer.from(part, 'base64url').toString('utf8');
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject || JSON.stringify(value) !== text) return undefined;
    // Decoding replaces bytes that are not UTF-8 and drops unused bits, so a part with either does not match.
    return Buffer.from(text).toString('base64url') === part ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
