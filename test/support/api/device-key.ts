import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';

export interface WantedProof {
  /** Path of the operation at the issuer that tests have by default. */
  readonly path: string;
  /** Refresh token that is sent with the proof. */
  readonly token?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at?: number;
  /** Claims that replace the right ones. */
  readonly claims?: object;
  /** Members of the header that replace the right ones. */
  readonly header?: object;
  /** Key that signs in place of the device's. */
  readonly signer?: KeyObject;
}

/** `TOKEN_ISSUER` of the apis in tests. */
export const testIssuer = 'https://auth.local';

export const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Signs a JWS with ES256, whatever its parts are. */
export function signProof(header: object, claims: object, key: KeyObject): string {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

export type DeviceKey = ReturnType<typeof newDeviceKey>;

/** Returns a key of a device, which signs proofs as RFC 9449 describes them, and wrong ones if a test asks for them. */
export function newDeviceKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const jwk = { kty: 'EC', crv: 'P-256', x, y };
  return {
    /** Thumbprint (RFC 7638). */
    jkt: sha256(`{"crv":"P-256","kty":"EC","x":"${x}","y":"${y}"}`),
    /** Returns the value of a `DPoP` header. */
    prove({ path, token, at = Date.now(), claims, header, signer = privateKey }: WantedProof): string {
      const request = { jti: randomUUID(), htm: 'POST', htu: testIssuer + path, iat: Math.floor(at / 1_000) };
      const own = { ...request, ...(token !== undefined && { rth: sha256(token) }), ...claims };
      return signProof({ typ: 'dpop+jwt', alg: 'ES256', jwk, ...header }, own, signer);
    },
  };
}

export const refreshPath = '/api/v1/auth/refresh';
