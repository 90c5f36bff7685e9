import type { AccessTokenAlgorithm } from './public-keys.ts';

/** Longest access token that is read. Ours have about 700 characters. */
const longestToken = 4_096;

/**
 * A compact JWS with a signature of 64 bytes (Ed25519 and P-256 alike), in the only canonical base64url spelling: no
 * padding, and no unused bits set in the last character. JOSE libraries, ours among them, accept others too.
 */
const compactPattern = /^([\w-]+)\.([\w-]+)\.[\w-]{85}[AQgw]$/;

/** Contents of a token that was read but not verified. */
export interface TokenText {
  readonly kid: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/**
 * Reads a token that is written as our signer writes: the three header members that it sets and no other (no `jwk`,
 * `jku`, `x5u`, `crit`, `b64`, `zip`), and JSON that reads back to the same text (no member twice, no white space).
 * Returns undefined for any other string. It proves nothing.
 */
export function readTokenText(
  token: string,
  algorithm: AccessTokenAlgorithm,
  type: string,
  maximumLength: number = longestToken,
): TokenText | undefined {
  const parts = token.length <= maximumLength && compactPattern.exec(token);
  if (!parts) return undefined;
  const [, head = '', body = ''] = parts;
  const [header, payload] = [parseExactly(head), parseExactly(body)];
  if (header === undefined || payload === undefined) return undefined;
  const { alg, typ, kid, ...others } = header;
  const isOurs = alg === algorithm && typ === type && Object.keys(others).length === 0;
  return isOurs && typeof kid === 'string' ? { kid, payload } : undefined;
}

function parseExactly(part: string): Record<string, unknown> | undefined {
  const text = Buffer.from(part, 'base64url').toString('utf8');
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject || JSON.stringify(value) !== text) return undefined;
    // Bytes that are not UTF-8 have been replaced by now, and unused bits are gone.
    return Buffer.from(text).toString('base64url') === part ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
