/** The part of the issuer's metadata that a verifier needs. Each key names its own algorithm. */
export interface IssuerMetadata {
  readonly jwksUri: string;
  /** Limit for the life of a token, in seconds. */
  readonly ttlSeconds: number;
}

/** Limit for the life that the metadata may state, in seconds. It is the maximum of the service's setting. */
export const maxLife = 86_400;

/** Reads the metadata. Throws if they belong to another issuer (RFC 8414 section 3.3) or lack a member. */
export function readMetadata(text: string, issuer: string): IssuerMetadata {
  const found = parseObject(text);
  if (found.issuer !== issuer) throw new Error(`it is the metadata of another issuer: ${JSON.stringify(found.issuer)}`);
  const { jwks_uri: jwksUri, access_token_max_lifetime_seconds: ttlSeconds } = found;
  if (typeof jwksUri !== 'string' || !URL.canParse(jwksUri)) throw new Error('it has no jwks_uri');
  if (!isSafe(new URL(jwksUri), new URL(issuer))) throw new Error(`keys are fetched over https, not from ${jwksUri}`);
  const isLife = Number.isSafeInteger(ttlSeconds) && (ttlSeconds as number) > 0 && (ttlSeconds as number) <= maxLife;
  if (!isLife) throw new Error('it does not say how long an access token lives');
  return { jwksUri, ttlSeconds: ttlSeconds as number };
}

/**
 * Returns true if the URL of the keys is safe. If the issuer is trusted over plain HTTP, its keys must have the same
 * origin.
 */
function isSafe(keys: URL, issuer: URL): boolean {
  return keys.protocol === 'https:' || keys.origin === issuer.origin;
}

function parseObject(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw new Error('it is no JSON object');
  return value as Record<string, unknown>;
}
