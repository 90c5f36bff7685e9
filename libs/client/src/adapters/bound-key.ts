import { AuthError } from '../http/auth-error.ts';
import { addTexts, boundKeyTexts } from '../http/error-texts.ts';
import { parseJson, readError } from '../http/exchange.ts';
import { base64url } from '../platform/base64url.ts';
import type { BoundKey, Platform } from '../platform/platform.ts';
import { type Databases, indexedValues } from './indexed-storage.ts';

/** A P-256 key of the device, for example in a Secure Enclave or a key store. */
export interface DeviceKey {
  /** The public key. */
  readonly jwk: { readonly kty: 'EC'; readonly crv: 'P-256'; readonly x: string; readonly y: string };
  /** Signs with ECDSA over SHA-256. Resolves to r and s, 64 bytes; {@link rawSignature} makes them of DER. */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
  /** SHA-256. It is not needed if the platform has WebCrypto. */
  digest?(bytes: Uint8Array): Promise<Uint8Array | ArrayBuffer>;
}

/** The place where the device's key is kept. Both functions must settle. */
export interface DeviceKeys {
  /** Resolves to undefined if there is no key. Rejects if that can't be known now. */
  find(): Promise<DeviceKey | undefined>;
  /** Returns the key, and makes it if there is none. */
  make(): Promise<DeviceKey>;
}

export interface BoundKeyOptions {
  /** Public URL of the api (`TOKEN_ISSUER`), if `baseUrl` is another one. */
  readonly origin?: string;
}

/**
 * If a proof is this much older than the service's time, in milliseconds, the phone's clock is wrong, or it has slept
 * since. The service accepts 60 s.
 */
const staleMs = 30_000;
/** Limit for the proofs of one request. */
const maxTries = 3;

/**
 * Binds each session that a login opens to a key of the device (RFC 9449): its refresh tokens are worthless without the
 * key. Without the key, for example after its storage was wiped, the user logs in again, and the next login makes a new
 * key. While the key can't be read, calls fail with `CLIENT_STATE_UNKNOWN`, and the session stays. A login whose proof
 * the service refuses fails with `CLIENT_PROOF_REFUSED`, because the user has typed nothing wrong.
 */
export function boundKey(keys: DeviceKeys | DeviceKey, { origin }: BoundKeyOptions = {}): BoundKey {
  const { find, make } = 'jwk' in keys ? { find: async () => keys, make: async () => keys } : keys;
  const address = origin?.replace(/\/$/, '');
  // A proxy may also add a prefix to the path.
  const publicUrl = (url: string) => (address === undefined ? url : url.replace(/^.*?(?=\/api\/v)/, address));
  addTexts(boundKeyTexts);
  return ({ fetch, now, randomUUID }) => {
    const send = createSend({ now });
    return async (url, init = {}) => {
      const { refresh_token: token } = JSON.parse(String(init.body)) as { readonly refresh_token?: string };
      const key = await readable(token === undefined ? make() : find());
      if (key === undefined) return fetch(url, init);
      const htu = publicUrl(url);
      const rth = token === undefined ? undefined : await readable(hashOf(key, token));
      const request = { jti: randomUUID(), htm: init.method, htu, rth };
      const headersAt = async (at: number) => {
        const DPoP = await readable(sign(key, { ...request, iat: Math.floor(at / 1_000) }));
        return { ...(init.headers as object), DPoP };
      };
      const refusal = token === undefined ? 422 : 401;
      return notOfProof(await send(refusal, headersAt, (headers) => fetch(url, { ...init, headers })), htu);
    };
  };
}

interface Violation {
  readonly loc?: unknown;
  readonly msg?: unknown;
}

/** Returns the response. Raises `CLIENT_PROOF_REFUSED` if it refuses the proof of a login, mostly for its `htu`. */
async function notOfProof(response: Response, htu: string): Promise<Response> {
  const { status } = response;
  if (status !== 422) return response;
  const { details, requestId } = readError(response, parseJson(await response.clone().text())) ?? {};
  const fault = ([details].flat() as readonly (Violation | undefined)[]).find((one) => `${one?.loc}` === 'header,DPoP');
  if (fault) throw new AuthError('CLIENT_PROOF_REFUSED', { status, requestId, details: { fault: fault.msg, htu } });
  return response;
}

type Headers = Readonly<Record<string, string>>;

/**
 * Sends a request again if it was refused with an old proof, because such a refusal must not end the session. It learns
 * the service's time from the header `Date`.
 */
function createSend({ now }: Pick<Platform, 'now'>) {
  /** The service's clock less the device's, in milliseconds. */
  let ahead = 0;

  return async (
    refusal: number,
    headersAt: (at: number) => Promise<Headers>,
    send: (headers: Headers) => Promise<Response>,
  ): Promise<Response> => {
    for (let tries = 1; tries <= maxTries; tries += 1) {
      const at = now() + ahead;
      const response = await send(await headersAt(at));
      const servedAt = Date.parse(response.headers.get('Date') ?? '');
      if (response.status !== refusal || !(Math.abs(servedAt - at) > staleMs)) return response;
      await response.text();
      ahead = servedAt - now();
    }
    throw new AuthError('CLIENT_NETWORK');
  };
}

/** Makes an error of the key one of the storage, so that it is no reason to sign out. */
async function readable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch {
    throw new AuthError('CLIENT_STATE_UNKNOWN');
  }
}

const bytesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

async function hashOf(key: DeviceKey, token: string): Promise<string> {
  const bytes = bytesOf(token);
  return base64url(new Uint8Array(await (key.digest?.(bytes) ?? subtle().digest('SHA-256', bytes))));
}

async function sign(key: DeviceKey, claims: object): Promise<string> {
  const { kty, crv, x, y } = key.jwk;
  const parts = [{ typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } }, claims];
  const text = parts.map((part) => base64url(bytesOf(JSON.stringify(part)))).join('.');
  return `${text}.${base64url(await key.sign(bytesOf(text)))}`;
}

/** Makes r and s, 64 bytes, of a signature in DER, as key stores give it. */
export function rawSignature(der: Uint8Array): Uint8Array {
  const raw = new Uint8Array(64);
  let at = 2;
  for (const end of [32, 64]) {
    const length = der[at + 1] ?? 0;
    const number = der.subarray(at + 2, at + 2 + length);
    // A number has a zero before it if its first bit is set, and no other zeros.
    const digits = number.subarray(Math.max(0, length - 32));
    raw.set(digits, end - digits.length);
    at += 2 + length;
  }
  return raw;
}

/** The part of WebCrypto that is used. */
interface Subtle {
  generateKey(algorithm: object, isExtractable: boolean, uses: readonly string[]): Promise<KeyPair>;
  exportKey(format: 'jwk', key: unknown): Promise<DeviceKey['jwk']>;
  sign(algorithm: object, key: unknown, bytes: Uint8Array): Promise<ArrayBuffer>;
  digest(algorithm: 'SHA-256', bytes: Uint8Array): Promise<ArrayBuffer>;
}

/** A key pair of WebCrypto. */
export interface KeyPair {
  readonly privateKey: unknown;
  readonly publicKey: unknown;
}

function subtle(): Subtle {
  const { crypto } = globalThis as unknown as { readonly crypto?: { readonly subtle?: Subtle } };
  if (!crypto?.subtle) throw new TypeError('This platform has no WebCrypto, which pages have only with HTTPS');
  return crypto.subtle;
}

/** Makes a key that no script can read. */
const newPair = () => subtle().generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']);

/** Returns the device's key of a key pair (ECDSA, P-256). */
export async function pairKey({ privateKey, publicKey }: KeyPair): Promise<DeviceKey> {
  return {
    jwk: await subtle().exportKey('jwk', publicKey),
    sign: async (bytes) => new Uint8Array(await subtle().sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, bytes)),
  };
}

/** Keeps a page's key in IndexedDB, where all tabs find it. No script can read it, but any script can sign with it. */
export function browserKeys(name = 'auth-account-key'): DeviceKeys {
  const page = globalThis as unknown as { readonly indexedDB: Databases<KeyPair> };
  const pairs = indexedValues<KeyPair>(() => page.indexedDB, name);
  const find = async () => {
    const pair = await pairs.get('key');
    return pair && pairKey(pair);
  };
  return {
    find,
    async make() {
      const found = await find();
      if (found) return found;
      // Another tab may make one at the same time. The first stays.
      await pairs.add('key', await newPair()).catch(() => undefined);
      const made = await find();
      if (!made) throw new Error('the key is not kept');
      return made;
    },
  };
}

/** Keeps the key in memory. After a restart, the user logs in again. */
export function memoryKeys(): DeviceKeys {
  let made: Promise<DeviceKey> | undefined;
  return {
    find: async () => made,
    make() {
      made ??= newPair()
        .then(pairKey)
        .catch((error) => {
          made = undefined;
          throw error;
        });
      return made;
    },
  };
}
