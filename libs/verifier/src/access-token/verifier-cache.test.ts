import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createAccessTokenSigner } from '@auth-account/tokens';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { createAccessTokenVerifier, type VerifyAccessToken } from './access-token-verifier.ts';
import { type KeyEntry, type KeySet, parseKeySet } from './key-set.ts';
import { createCachedVerifier, createVerifierCache, type VerifierCacheOptions } from './verifier-cache.ts';

const newKey = (kid: string) =>
  ({ ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }), kid }) as KeyEntry;
const set = (...keys: KeyEntry[]) => parseKeySet(JSON.stringify({ keys }), 'test');
const common = { issuer: 'https://a', audience: 'food', ttlSeconds: 600 } as const;
const claims = () => ({
  user_id: randomUUID(),
  home_group_id: randomUUID(),
  account_type: 'HOME' as const,
  sid: randomUUID(),
  ver: 1,
  device_id: randomUUID(),
  amr: ['pwd'],
});

const issuedAt = 1_800_000_000;
const [a, b] = [newKey('a'), newKey('b')];
let nowMs: number;
let keys: { now: KeySet; current(): KeySet; reread(): Promise<void> };
/** Tokens that reached the verifier itself. */
let asked: string[];
let lookups: string[];
let plain: VerifyAccessToken;

beforeEach(async () => {
  nowMs = issuedAt * 1_000;
  asked = [];
  lookups = [];
  keys = { now: set(a, b), current: () => keys.now, reread: async () => undefined };
  plain = await createAccessTokenVerifier({ ...common, keys, now: () => nowMs });
});

const sign = (key = a) => createAccessTokenSigner({ ...common, keys: set(key), now: () => issuedAt * 1_000 })(claims());

function newCache(options: Partial<VerifierCacheOptions> = {}, verify = plain): VerifyAccessToken {
  const counted: VerifyAccessToken = (token) => {
    asked.push(token);
    return verify(token);
  };
  const onLookup = (result: string) => lookups.push(result);
  return createVerifierCache(counted, { keys, now: () => nowMs, maxEntries: 10, onLookup, ...options });
}

describe('tokens that come again', () => {
  test('a token that comes again is verified once by a verifier that is created with its cache', async () => {
    const onLookup = (result: string) => lookups.push(result);
    const verify = await createCachedVerifier({ ...common, keys, now: () => nowMs, maxEntries: 10, onLookup });
    const token = sign();
    expect([await verify(token), await verify(token)]).toEqual([await plain(token), await plain(token)]);
    expect(lookups).toEqual(['miss', 'hit']);
  });

  test('a token that comes again is not verified again, and gives the same immutable claims', async () => {
    const verify = newCache();
    const token = sign();
    const first = await verify(token);
    const second = await verify(token);
    expect(second).toEqual(await plain(token));
    expect(asked).toEqual([token]);
    expect(lookups).toEqual(['miss', 'hit']);
    expect(() => Object.assign(first, { ver: 2 })).toThrow(TypeError);
    expect(() => Object.assign(first.amr ?? {}, ['otp'])).toThrow(TypeError);
  });

  test('a token that comes again is refused from the very moment at which the verifier would refuse it', async () => {
    const verify = newCache();
    const token = sign();
    await verify(token);
    const answer = (ask: VerifyAccessToken) => ask(token).catch((error: { code: string }) => error.code);
    for (const ms of [599_999, 600_000, 604_000, 604_999, 605_000, 605_001, 606_000, 700_000]) {
      nowMs = issuedAt * 1_000 + ms;
      expect([ms, await answer(verify)]).toEqual([ms, await answer(plain)]);
    }
    expect(await answer(verify)).toBe('IAD_JWT_ACCESS_EXPIRED');
  });

  test('a token that comes again is verified anew where the clock was set back before its issue', async () => {
    const verify = newCache();
    const token = sign();
    await verify(token);
    nowMs = (issuedAt - 60) * 1_000;
    await expect(verify(token)).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
  });
});

describe('changes of keys', () => {
  // guarantees: removed-key
  test('a change of keys drops at once what a removed key had signed, and verifies the rest again', async () => {
    const verify = newCache();
    const [byA, byB] = [sign(a), sign(b)];
    await verify(byA);
    await verify(byB);
    keys.now = set(b);
    await expect(verify(byA)).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
    await verify(byB);
    expect(asked).toEqual([byA, byB, byA, byB]);
  });

  test('a change of keys during a verification keeps its result from being remembered', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const verify = newCache({}, async (token) => {
      const verified = await plain(token);
      await promise;
      return verified;
    });
    const token = sign(a);
    const pending = verify(token);
    keys.now = set(b);
    resolve();
    expect(await pending).toMatchObject({ ver: 1 });
    await expect(verify(token)).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
  });

  test('a change of keys during a verification keeps its result out of the new keys’ cache', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const [byA, byB] = [sign(a), sign(b)];
    const verify = newCache({}, async (token) => {
      const verified = await plain(token);
      if (token === byA) await promise;
      return verified;
    });
    const pending = verify(byA);
    keys.now = set(b);
    await verify(byB);
    resolve();
    expect(await pending).toMatchObject({ ver: 1 });
    await expect(verify(byA)).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
    await verify(byB);
    expect(asked).toEqual([byA, byB, byA]);
  });

  test('a change to other material under the same kid is a change of keys too', async () => {
    const verify = newCache();
    const token = sign(a);
    await verify(token);
    keys.now = set(newKey('a'));
    await expect(verify(token)).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
  });
});

describe('the verifier’s cache', () => {
  test('the cache remembers no refusal: each is given by the verifier', async () => {
    const verify = newCache();
    for (let count = 0; count < 3; count += 1) {
      await expect(verify('a.b.c')).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
    }
    expect(asked).toHaveLength(3);
  });

  test('the cache is bounded: the least recently used token is dropped', async () => {
    const verify = newCache({ maxEntries: 2 });
    const [x, y, z] = [sign(), sign(), sign()] as const;
    for (const token of [x, y, x, z, x, y]) await verify(token);
    expect(asked).toEqual([x, y, z, y]);
  });

  test('the cache holds a token until its very end, and drops it then, whatever the clock does', async () => {
    const verify = newCache();
    const token = sign();
    await verify(token);
    nowMs += 604_999;
    await verify(token);
    nowMs += 1;
    await expect(verify(token)).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_EXPIRED' });
    nowMs -= 1;
    await verify(token);
    expect(lookups).toEqual(['miss', 'hit', 'miss', 'miss']);
  });

  test('the cache works the same without counters', async () => {
    const verify = createVerifierCache(plain, { keys, now: () => nowMs, maxEntries: 10 });
    const token = sign();
    expect(await verify(token)).toBe(await verify(token));
  });

  test('a cache with no entries remembers nothing', async () => {
    const verify = newCache({ maxEntries: 0 });
    const token = sign();
    await verify(token);
    await verify(token);
    expect(asked).toHaveLength(2);
  });

  test('the cache does not help another spelling of the token', async () => {
    const verify = newCache();
    const token = sign();
    await verify(token);
    for (let at = 0; at < token.length; at += 1) {
      const other = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      await expect(verify(other)).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
    }
    expect(lookups.filter((result) => result === 'hit')).toEqual([]);
    expect(await verify(token)).toMatchObject({ ver: 1 });
    expect(lookups.at(-1)).toBe('hit');
  });
});
