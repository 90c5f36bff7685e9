import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { type AccessTokenAlgorithm, algorithmOf, type KeyEntry } from '@auth-account/verifier/access-token';

/** Input of a forger: more than any attacker has, including the signing key. */
export interface ForgeryMaterial {
  /** The key in force, with its private part. */
  readonly key: KeyEntry;
  readonly issuer: string;
  readonly audience: string;
  /** Session of the genuine token. */
  readonly sessionId: string;
  /** Seconds since the epoch. */
  readonly at: number;
}

export type Forger = ReturnType<typeof createForger>;

const part = (value: unknown) => {
  const text = Buffer.isBuffer(value) || typeof value === 'string' ? value : JSON.stringify(value);
  return Buffer.from(text).toString('base64url');
};

export function newSigningKey(algorithm: AccessTokenAlgorithm, kid: string): KeyEntry {
  const { privateKey } =
    algorithm === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), kid } as KeyEntry;
}

function signWith(key: KeyEntry, input: string): Buffer {
  const privateKey = createPrivateKey({ key: key as never, format: 'jwk' });
  if (key.kty === 'OKP') return sign(null, Buffer.from(input), privateKey);
  return sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
}

/** Creates tokens by hand, so that a token can be wrong in any way. */
export function createForger(material: ForgeryMaterial) {
  const { key, issuer, audience, sessionId, at } = material;
  const algorithm = algorithmOf(key);
  const otherAlgorithm: AccessTokenAlgorithm = algorithm === 'EdDSA' ? 'ES256' : 'EdDSA';
  const header = { alg: algorithm, typ: 'at+jwt', kid: key.kid };
  const userId = randomUUID();
  const claims = {
    user_id: userId,
    home_group_id: randomUUID(),
    account_type: 'HOME',
    sid: sessionId,
    ver: 1,
    device_id: randomUUID(),
    client_id: audience,
    iss: issuer,
    aud: audience,
    sub: userId,
    jti: randomUUID(),
    iat: at,
    exp: at + 600,
  };
  const signed = (head: unknown, payload: unknown, by = key): string => {
    const input = `${part(head)}.${part(payload)}`;
    return `${input}.${signWith(by, input).toString('base64url')}`;
  };
  const publicKey = createPublicKey({ key: key as never, format: 'jwk' });
  const { d: _, ...open } = key;
  return {
    material,
    /** The algorithm of the key in force, and the other one. */
    ...{ algorithm, otherAlgorithm, header, claims },
    /** A token that is valid in every respect. */
    genuine: signed(header, claims),
    /** Keys that are not in force: a former key, and a key of the other kind. */
    retired: newSigningKey(algorithm, 'retired'),
    foreign: newSigningKey(otherAlgorithm, key.kid),
    /** Public half of the key in force, in the forms in which it could be mistaken for a secret. */
    publicSpellings: [
      publicKey.export({ format: 'pem', type: 'spki' }),
      publicKey.export({ format: 'der', type: 'spki' }),
      Buffer.from(String(key.x), 'base64url'),
      String(key.x),
      JSON.stringify(open),
      key.kid,
      Buffer.alloc(32),
      '',
    ],
    /**
     * Returns a token of these parts, signed by the key in force or another. Text is used as it is, anything else as
     * JSON.
     */
    signed,
    /** Returns a token of these parts with the given signature. */
    sealed(head: unknown, payload: unknown, signature: string | Buffer): string {
      const text = Buffer.isBuffer(signature) ? signature.toString('base64url') : signature;
      return `${part(head)}.${part(payload)}.${text}`;
    },
    hmac(head: unknown, payload: unknown, secret: string | Buffer): string {
      const input = `${part(head)}.${part(payload)}`;
      return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
    },
  };
}
