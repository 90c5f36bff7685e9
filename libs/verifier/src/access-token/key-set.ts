/** A JWK set (RFC 7517). The first key signs, and all verify. */
export interface KeySet<K extends KeyEntry = KeyEntry> {
  readonly keys: readonly [K, ...K[]];
}

/** One JWK. Code that uses the key checks all fields other than `kid`. */
export interface KeyEntry {
  readonly kid: string;
  readonly kty: string;
  readonly [member: string]: unknown;
}

/**
 * Parses the text of a JWK set and checks its form: at least one key, each with a unique `kid`. Throws an `Error` with
 * the origin and the fault, never with a part of a key.
 */
export function parseKeySet(text: string, origin: string): KeySet {
  const keys = readKeys(text, origin);
  const [first, ...rest] = keys;
  if (first === undefined) throw new Error(`${origin}: the key set holds no key`);
  const kids = new Set(keys.map((key) => key.kid));
  if (kids.size !== keys.length) throw new Error(`${origin}: two keys have the same kid`);
  return { keys: [first, ...rest] };
}

function readKeys(text: string, origin: string): KeyEntry[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's own message would quote the text, which is key material.
    throw new Error(`${origin}: not JSON`);
  }
  const keys = (parsed as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys) || !keys.every(isKeyEntry)) {
    throw new Error(`${origin}: not a JWK set ({"keys":[{"kid":…,"kty":…},…]})`);
  }
  return keys;
}

function isKeyEntry(value: unknown): value is KeyEntry {
  const { kid, kty } = (value ?? {}) as Partial<KeyEntry>;
  return typeof kid === 'string' && kid.length > 0 && kid.length <= 64 && typeof kty === 'string';
}
