import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { cborMap } from './cbor.ts';

/** Parts of a request for a new passkey that this authenticator reads. */
export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id?: string };
  readonly user: { readonly id: string };
}
export interface RequestOptions {
  readonly challenge: string;
  readonly rpId?: string;
}

/** COSE algorithms, with the names of their keys. */
const algorithms = { ES256: -7, EdDSA: -8, RS256: -257 } as const;
export type PasskeyAlgorithm = keyof typeof algorithms;

/** Differences of a ceremony from that of an honest phone. */
export interface Ceremony {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  /** `null` leaves it out, as old browsers do. */
  readonly crossOrigin?: boolean | null;
  readonly topOrigin?: string;
  /** Flags: user present, user verified, backup eligible, backup state. */
  readonly up?: boolean;
  readonly uv?: boolean;
  readonly be?: boolean;
  readonly bs?: boolean;
  readonly counter?: number;
  /** base64url; null: none. */
  readonly userHandle?: string | null;
  /** Spoils the signature. */
  readonly isForged?: boolean;
  /** Attestation that nobody has asked for. */
  readonly fmt?: string;
  /** COSE key in place of the right one. */
  readonly publicKey?: Buffer;
}

export interface AuthenticatorSettings {
  readonly origin: string;
  readonly algorithm?: PasskeyAlgorithm;
  /** False: a security key, whose passkeys stay on it. */
  readonly isSynced?: boolean;
  /** Counts its signatures. A synced passkey always has 0. */
  readonly counts?: boolean;
}

interface StoredPasskey {
  readonly privateKey: KeyObject;
  readonly rpId: string;
  readonly userHandle: string;
  counter: number;
}

type NamedCeremony = Ceremony & { readonly credentialId?: string };

export type Authenticator = ReturnType<typeof createAuthenticator>;

/**
 * Creates an authenticator on `node:crypto`: a phone, a security key, and, by what a {@link Ceremony} changes, each wrong
 * one.
 */
export function createAuthenticator({
  origin,
  algorithm = 'ES256',
  isSynced = true,
  counts = false,
}: AuthenticatorSettings) {
  const passkeys = new Map<string, StoredPasskey>();
  const honest = { origin, be: isSynced, bs: isSynced };

  return {
    get credentialIds() {
      return [...passkeys.keys()];
    },
    create({ challenge, rp, user }: CreationOptions, ceremony: Ceremony = {}) {
      const { publicKey, privateKey } = keyPair(algorithm);
      const passkey = { privateKey, rpId: ceremony.rpId ?? rp.id ?? '', userHandle: user.id, counter: 0 };
      const id = randomBytes(32);
      passkeys.set(id.toString('base64url'), passkey);
      const given = { ...honest, challenge, type: 'webauthn.create', ...ceremony };
      const key = ceremony.publicKey ?? coseKey(algorithm, publicKey);
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key]);
      const authData = Buffer.concat([authenticatorData(passkey, given, 0x40), attested]);
      return registrationJson(id.toString('base64url'), clientData(given), authData, ceremony.fmt ?? 'none');
    },
    /** Signs with the newest passkey, or with the one that is named. */
    get({ challenge, rpId }: RequestOptions, { credentialId, ...ceremony }: NamedCeremony = {}) {
      const id = credentialId ?? [...passkeys.keys()].at(-1) ?? '';
      const passkey = passkeys.get(id);
      if (passkey === undefined) throw new Error('the authenticator has no such passkey');
      if (counts) passkey.counter += 1;
      const given = { ...honest, challenge, type: 'webauthn.get', ...ceremony };
      const authData = authenticatorData({ ...passkey, rpId: ceremony.rpId ?? rpId ?? passkey.rpId }, given, 0);
      const client = clientData(given);
      const signature = signed(algorithm, passkey.privateKey, Buffer.concat([authData, sha256(client)]));
      if (ceremony.isForged) signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
      const userHandle = ceremony.userHandle === undefined ? passkey.userHandle : ceremony.userHandle;
      return assertionJson(id, { client, authData, signature }, userHandle);
    },
  };
}

/** Origin by which an Android app with this certificate's fingerprint is known. */
export function androidOrigin(fingerprint: Buffer): string {
  return `android:apk-key-hash:${fingerprint.toString('base64url')}`;
}

/** Returns a credential in the JSON form of WebAuthn, as apps send it. */
function registrationJson(id: string, client: Buffer, authData: Buffer, fmt: string) {
  const attestationObject = cborMap([
    ['fmt', fmt],
    ['attStmt', fmt === 'none' ? {} : { alg: -7, sig: randomBytes(70) }],
    ['authData', authData],
  ]);
  const response = {
    clientDataJSON: client.toString('base64url'),
    attestationObject: attestationObject.toString('base64url'),
    transports: ['internal', 'hybrid'],
  };
  return { id, rawId: id, type: 'public-key' as const, response, clientExtensionResults: { credProps: { rk: true } } };
}

interface Signed {
  readonly client: Buffer;
  readonly authData: Buffer;
  readonly signature: Buffer;
}

function assertionJson(id: string, { client, authData, signature }: Signed, userHandle: string | null) {
  const response = {
    clientDataJSON: client.toString('base64url'),
    authenticatorData: authData.toString('base64url'),
    signature: signature.toString('base64url'),
    ...(userHandle !== null && { userHandle }),
  };
  return { id, rawId: id, type: 'public-key' as const, response, clientExtensionResults: {} };
}

function clientData({ type, challenge, origin, crossOrigin = false, topOrigin }: Ceremony): Buffer {
  return Buffer.from(
    JSON.stringify({
      ...{ type, challenge, origin, crossOrigin: crossOrigin ?? undefined },
      ...(topOrigin && { topOrigin }),
    }),
  );
}

function authenticatorData(
  { rpId, counter: counted }: Pick<StoredPasskey, 'rpId' | 'counter'>,
  { up = true, uv = true, be = false, bs = false, counter = counted }: Ceremony,
  more: number,
): Buffer {
  const flags = (up ? 0x01 : 0) | (uv ? 0x04 : 0) | (be ? 0x08 : 0) | (bs ? 0x10 : 0) | more;
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  return Buffer.concat([sha256(rpId), Buffer.from([flags]), count]);
}

function keyPair(algorithm: PasskeyAlgorithm): { publicKey: KeyObject; privateKey: KeyObject } {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519');
  return generateKeyPairSync('rsa', { modulusLength: 2_048 });
}

/** The public key as COSE has it (RFC 9053). */
function coseKey(algorithm: PasskeyAlgorithm, publicKey: KeyObject): Buffer {
  const { x = '', y = '', n = '', e = '' } = publicKey.export({ format: 'jwk' });
  const bytes = (text: string) => Buffer.from(text, 'base64url');
  if (algorithm === 'ES256') return ecKey(bytes(x), bytes(y));
  if (algorithm === 'EdDSA') return okpKey(6, bytes(x));
  return rsaKey(bytes(n), bytes(e));
}

/** COSE key of P-256. */
export function ecKey(x: Buffer, y: Buffer): Buffer {
  return cborMap([
    [1, 2],
    [3, algorithms.ES256],
    [-1, 1],
    [-2, x],
    [-3, y],
  ]);
}

/** COSE key of a curve of Edwards or Montgomery: 6 is Ed25519. */
export function okpKey(crv: number, x: Buffer): Buffer {
  return cborMap([
    [1, 1],
    [3, algorithms.EdDSA],
    [-1, crv],
    [-2, x],
  ]);
}

/** COSE key of RSA. */
export function rsaKey(n: Buffer, e: Buffer): Buffer {
  return cborMap([
    [1, 3],
    [3, algorithms.RS256],
    [-1, n],
    [-2, e],
  ]);
}

function signed(algorithm: PasskeyAlgorithm, key: KeyObject, data: Buffer): Buffer {
  return algorithm === 'EdDSA' ? sign(null, data, key) : createSign('sha256').update(data).sign(key);
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}
