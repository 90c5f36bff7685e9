import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import {
  createAccessTokenVerifier,
  type KeyEntry,
  type KeySet,
  type KeySource,
  oncePerSet,
  parseKeySet,
  publicKeySet,
} from '@auth-account/verifier/access-token';
import { describe, expect, test } from '@jest/globals';
import { decodeProtectedHeader } from 'jose';
import { createAccessTokenSigner } from './access-token.ts';
import { assertAccessTokenKeys } from './access-token-keys.ts';
import { generateSigningKey } from './generate-key.ts';
import { createRefreshTokens } from './refresh-token.ts';

const signing = (kid: string) =>
  ({ ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }), kid }) as KeyEntry;
const secret = (kid: string): KeyEntry => ({ kty: 'oct', kid, k: randomBytes(32).toString('base64url') });
const set = (...keys: KeyEntry[]) => parseKeySet(JSON.stringify({ keys }), 'test');

/** Creates a key source whose keys the test sets. The next `reread` finds `next`. */
function testSource(first: KeySet): KeySource & { now: KeySet; next: KeySet | undefined; looks: number } {
  return {
    now: first,
    next: undefined,
    looks: 0,
    current() {
      return this.now;
    },
    async reread() {
      this.looks += 1;
      this.now = this.next ?? this.now;
    },
  };
}

const common = { issuer: 'https://a', audience: 'food', ttlSeconds: 600 } as const;
const claims = {
  user_id: randomUUID(),
  home_group_id: randomUUID(),
  account_type: 'HOME',
  sid: randomUUID(),
  ver: 1,
  device_id: randomUUID(),
} as const;

describe('access tokens with a live source', () => {
  const [a, b] = [signing('a'), signing('b')];

  test('a new first key signs at once, and a removed key no longer verifies', async () => {
    const keys = testSource(set(a));
    const sign = createAccessTokenSigner({ ...common, keys });
    const verify = await createAccessTokenVerifier({ ...common, keys });
    const former = sign(claims);
    keys.now = set(b, a);
    const latter = sign(claims);
    expect(decodeProtectedHeader(latter)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: 'b' });
    expect(await verify(former)).toMatchObject({ sid: claims.sid });
    keys.now = set(b);
    await expect(verify(former)).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
    expect(await verify(latter)).toMatchObject({ sid: claims.sid });
  });

  test('an unknown kid makes the source read again, a known one does not', async () => {
    const sign = createAccessTokenSigner({ ...common, keys: set(b) });
    const keys = testSource(set(a));
    keys.next = set(b, a);
    const verify = await createAccessTokenVerifier({ ...common, keys });
    expect(await verify(sign(claims))).toMatchObject({ sid: claims.sid });
    await verify(sign(claims));
    expect(keys.looks).toBe(1);
  });

  test('a key that returns under its old kid with other material replaces the old one', async () => {
    const keys = testSource(set(a));
    const verify = await createAccessTokenVerifier({ ...common, keys });
    const byA = createAccessTokenSigner({ ...common, keys: set(a) })(claims);
    keys.now = set({ ...signing('a') });
    await expect(verify(byA)).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
  });

  test('a malformed token causes no read of the source', async () => {
    const keys = testSource(set(a));
    const verify = await createAccessTokenVerifier({ ...common, keys });
    for (const token of ['', 'x', 'a.b.c', `${'e30'}.e30.${'A'.repeat(86)}`]) {
      await expect(verify(token)).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
    }
    expect(keys.looks).toBe(0);
  });
});

test('a key set is checked for signing and for verifying', async () => {
  const { d: _, ...open } = signing('a');
  expect(() => assertAccessTokenKeys(set(open as KeyEntry), 'verify')).not.toThrow();
  expect(() => assertAccessTokenKeys(set(open as KeyEntry), 'sign')).toThrow('no private part');
  expect(() => assertAccessTokenKeys(set(signing('a')), 'sign')).not.toThrow();
  const mixedWith = (kind: 'ed25519' | 'ed448') => {
    const { publicKey } = generateKeyPairSync(kind as 'ed25519');
    return set(open as KeyEntry, { ...publicKey.export({ format: 'jwk' }), kid: 'b' } as KeyEntry);
  };
  expect(() => assertAccessTokenKeys(mixedWith('ed25519'), 'verify')).not.toThrow();
  expect(() => assertAccessTokenKeys(mixedWith('ed448'), 'verify')).toThrow('key b does not fit ES256 or EdDSA');
});

describe.each(['EdDSA', 'ES256'] as const)('the private part of a key for signing by %s', (algorithm) => {
  test.each<[string, (key: KeyEntry, other: KeyEntry) => object]>([
    ['belongs to another key', (_, { d }) => ({ d })],
    ['is empty', () => ({ d: '' })],
    ['is cut off', ({ d }) => ({ d: String(d).slice(0, 20) })],
    ['is no base64url', () => ({ d: '+++' })],
  ])('a set for signing is refused if the private part of its key %s', async (_, change) => {
    const [key, other] = [await generateSigningKey(algorithm), await generateSigningKey(algorithm)];
    expect(() => assertAccessTokenKeys(set(key), 'sign')).not.toThrow();
    const bad = set({ ...key, ...change(key, other) });
    expect(() => assertAccessTokenKeys(bad, 'sign')).toThrow(`key ${key.kid} cannot sign: its private part`);
  });
});

describe('key sets for verifying', () => {
  const { d = '', ...open } = signing('open');

  // guarantees: gateway-without-private-key
  test.each(['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'oth'])(
    'a set for verifying has no private member: %s',
    async (member) => {
      const secretPart = randomBytes(32).toString('base64url');
      const keys = set(open as KeyEntry, { ...open, kid: 'closed', [member]: secretPart } as KeyEntry);
      const check = () => assertAccessTokenKeys(keys, 'verify');
      expect(check).toThrow(`key closed has a private part (${member})`);
      expect(check).toThrow('`authctl keys public`');
      expect(check).not.toThrow(secretPart);
    },
  );

  test('the refusal of a set for verifying names all private members of a key', async () => {
    const keys = set({ ...open, d, k: 'x' } as KeyEntry);
    expect(() => assertAccessTokenKeys(keys, 'verify')).toThrow('private part (d, k)');
  });

  test('publicKeySet makes a set for verifying of one for signing', async () => {
    const published = publicKeySet(set({ ...open, d } as KeyEntry, signing('other')));
    expect(() => assertAccessTokenKeys(set(...published.keys), 'verify')).not.toThrow();
    expect(JSON.stringify(published)).not.toContain(d);
  });
});

test('refresh tokens say which keys exist, after a read of the source if it is asked for', async () => {
  const [a, b] = [secret('a'), secret('b')];
  const keys = testSource(set(a));
  keys.next = set(b, a);
  const tokens = createRefreshTokens(keys);
  expect([tokens.hasKey('a'), tokens.hasKey('b')]).toEqual([true, false]);
  await tokens.rereadKeys();
  expect([tokens.hasKey('a'), tokens.hasKey('b')]).toEqual([true, true]);
});

test('refresh tokens take the keys of a live source from the next call on', () => {
  const [a, b] = [secret('a'), secret('b')];
  const keys = testSource(set(a));
  const tokens = createRefreshTokens(keys);
  const nonce = randomBytes(32);
  const issue = () => tokens.issue({ kid: tokens.currentKid, sessionId: claims.sid, generation: 1 }, nonce);
  const former = issue();
  keys.now = set(b, a);
  expect(tokens.currentKid).toBe('b');
  const latter = issue();
  expect([former, latter].map((token) => tokens.isGenuine(token, nonce))).toEqual([true, true]);
  keys.now = set(b);
  expect([former, latter].map((token) => tokens.isGenuine(token, nonce))).toEqual([false, true]);
});

test('a value derived from a set is made once, and again when the set changes', () => {
  const made: KeySet[] = [];
  const use = oncePerSet((keys) => made.push(keys));
  const [one, other] = [set(secret('a')), set(secret('a'))];
  expect([use(one), use(one), use(other), use(other), use(one)]).toEqual([1, 1, 2, 2, 3]);
  expect(made).toEqual([one, other, one]);
});
