import { hash, verify } from 'node:crypto';

/** A proof that the sender holds a key (RFC 9449). */
export interface DeviceProof {
  /** Thumbprint of the key (RFC 7638). */
  readonly jkt: string;
  /** SHA-256 of the refresh token that the proof is for, base64url. */
  readonly rth?: string | undefined;
}

/** The first thing that is wrong with a proof: its form, a claim, or the signature. */
export const proofFaults = ['form', 'htm', 'htu', 'iat', 'signature'] as const;
export type ProofFault = (typeof proofFaults)[number];

/** The request that a proof must be for. */
export interface ProvenRequest {
  readonly method: string;
  /** Path of the request, without the query. */
  readonly path: string;
}

export type VerifyDeviceProof = (header: string, request: ProvenRequest) => DeviceProof | ProofFault;

export interface VerifyDeviceProofDeps {
  /** Public URL of the api, with which the claim `htu` must begin. */
  readonly issuer: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Seconds by which the clock of a device may differ from the service's. */
export const proofAgeSeconds = 60;

/** Three parts of base64url. The signature of ES256 has 64 bytes. */
const proofPattern = /^([\w-]{1,2048})\.([\w-]{1,2048})\.([\w-]{86})$/;

/**
 * Verifies `DPoP` headers (RFC 9449, section 4.3). Only ES256 is accepted. The signature is verified last, because it
 * costs the most. A `jti` must be there but is not remembered: `rth` binds a proof to one refresh token, so a recorded
 * proof opens nothing else.
 */
export function createVerifyDeviceProof({ issuer, now }: VerifyDeviceProofDeps): VerifyDeviceProof {
  const base = issuer.replace(/\/$/, '');
  return (header, { method, path }) => {
    const [, head = '', body = '', signature = ''] = proofPattern.exec(header) ?? [];
    const jwk = readKey(readJson(head));
    const claims = readJson(body);
    if (jwk === undefined || !isOfProof(claims)) return 'form';
    if (claims.htm !== method) return 'htm';
    if (!isSameUrl(claims.htu, base + path)) return 'htu';
    if (!(Math.abs(now() / 1_000 - claims.iat) <= proofAgeSeconds)) return 'iat';
    if (!isSignedBy(jwk, `${head}.${body}`, signature)) return 'signature';
    return { jkt: thumbprintOf(jwk), rth: claims.rth };
  };
}

type Members = Readonly<Record<string, unknown>>;

/** Returns the members of an object in base64url; none if it is something else. */
function readJson(part: string): Members {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null ? (value as Members) : {};
  } catch {
    return {};
  }
}

interface ProofClaims extends Members {
  readonly jti: string;
  readonly iat: number;
  readonly rth?: string;
}

function isOfProof(claims: Members): claims is ProofClaims {
  const { jti, iat, rth } = claims;
  return (
    typeof jti === 'string' && jti !== '' && typeof iat === 'number' && ['string', 'undefined'].includes(typeof rth)
  );
}

/** The members of a public key that count (RFC 7638, section 3.2). */
interface PublicJwk {
  readonly x: string;
  readonly y: string;
}

/** Returns the public key of a proof's header; undefined if the header is not that of a proof. */
function readKey({ typ, alg, crit, jwk }: Members): PublicJwk | undefined {
  if (typ !== 'dpop+jwt' || alg !== 'ES256' || crit !== undefined) return;
  const { kty, crv, x, y, d } = Object(jwk) as Members;
  // A private key (RFC 7518, section 6.2.2).
  if (d !== undefined) return;
  return kty === 'EC' && crv === 'P-256' && isCoordinate(x) && isCoordinate(y) ? { x, y } : undefined;
}

/** Returns true for 32 bytes in their only form, so that a key has one thumbprint. */
function isCoordinate(value: unknown): value is string {
  return (
    typeof value === 'string' && value.length === 43 && Buffer.from(value, 'base64url').toString('base64url') === value
  );
}

/** Returns false also if the point of the key is not on the curve. */
function isSignedBy({ x, y }: PublicJwk, text: string, signature: string): boolean {
  // A key object of its own would cost an eighth more.
  const key = { key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk', dsaEncoding: 'ieee-p1363' } as const;
  try {
    return verify('sha256', Buffer.from(text), key, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}

function thumbprintOf({ x, y }: PublicJwk): string {
  return hash('sha256', `{"crv":"P-256","kty":"EC","x":"${x}","y":"${y}"}`, 'base64url');
}

/** Compares after normalisation (RFC 3986, section 6.2), and without query and fragment. */
function isSameUrl(given: unknown, expected: string): boolean {
  if (given === expected) return true;
  if (typeof given !== 'string' || !URL.canParse(given)) return false;
  const url = new URL(given);
  url.search = '';
  url.hash = '';
  return withoutNeedlessEscapes(url.href) === withoutNeedlessEscapes(new URL(expected).href);
}

/** Characters that need no escape are written plainly, and other escapes in capitals. */
function withoutNeedlessEscapes(url: string): string {
  return url.replaceAll(/%[0-9a-f]{2}/gi, (octet) => {
    const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : octet.toUpperCase();
  });
}
