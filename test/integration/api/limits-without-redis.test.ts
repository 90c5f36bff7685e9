import { createSecretKey, randomBytes } from 'node:crypto';
import { createLimitKeys, failFastOptions } from '@auth-account/redis';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createAddressLimit } from '../../../services/api/src/limits/address-limit.ts';
import { createCodeLimit } from '../../../services/api/src/limits/code-limit.ts';
import { uniqueName } from '../../support/test-api.ts';

const dayMs = 86_400_000;
const secret = createSecretKey(randomBytes(32));
const keys = createLimitKeys(uniqueName(), () => secret);
/** A connection that is never made. */
const redis = new Redis({ ...failFastOptions, lazyConnect: true });
redis.disconnect();
afterAll(() => redis.disconnect());

describe('a limit by network', () => {
  const seconds = 3_600;
  const newLimit = () => createAddressLimit({ redis, keys, name: 'login', points: 3, seconds });

  test('is counted by the process, with the weight of each request', async () => {
    const limit = newLimit();
    for (const weight of [undefined, 2]) expect(await limit.count('a', weight)).toBeUndefined();
    const waitMs = await limit.count('a');
    expect(waitMs).toBeGreaterThan(1);
    expect(waitMs).toBeLessThanOrEqual(seconds * 1_000);
    expect(limit.refusedFor('a')).toBeGreaterThan(0);
    expect(await limit.count('b')).toBeUndefined();
    expect(limit.keyOf('a')).toContain(keys.tagOf('address', 'login', 'a'));
  });

  test('refuses from memory for so long as was said first', async () => {
    const limit = newLimit();
    limit.refuse('a', 60_000);
    limit.refuse('a', 120_000);
    const waitMs = await limit.count('a');
    expect(waitMs).toBeGreaterThan(1);
    expect(waitMs).toBeLessThanOrEqual(60_000);
    limit.refuse('b', 0);
    expect(await limit.count('b')).toBeUndefined();
  });

  test('answers ten refusals at once, and each further one a second later', async () => {
    const limit = newLimit();
    limit.refuse('a', 3_600_000);
    const refused = () => {
      const later = new Promise((resolve) => setImmediate(resolve, 'later'));
      return Promise.race([limit.count('a').then(() => 'at once'), later]);
    };
    const answers: unknown[] = [];
    for (let refusal = 2; refusal <= 11; refusal += 1) answers.push(await refused());
    expect(answers).toEqual([...Array(9).fill('at once'), 'later']);
    const begin = performance.now();
    await limit.count('a');
    expect(performance.now() - begin).toBeGreaterThanOrEqual(990);
  });
});

describe('codes by e-mail', () => {
  const perDay = 2;
  const newLimit = () => {
    const limit = createCodeLimit({ redis, keys, perDay, now: Date.now });
    return (emailKey: string, change: { readonly userId?: string; readonly recipient?: string } = {}) => {
      const { userId, recipient } = change;
      const place = { deviceId: undefined, prefix: '192.0.2.1/32' };
      return limit.count({ ...place, emailKey, userId, recipient, hasOwnCounts: true, hasAccess: true });
    };
  };
  // The count's own clock may be a few milliseconds old.
  const within = (waitMs = 0) => waitMs > 1 && waitMs <= dayMs + 1_000;

  test('are counted by account, with nobody known', async () => {
    const count = newLimit();
    expect([await count('a'), await count('a')]).toEqual([undefined, undefined]);
    const refusal = await count('a');
    expect([refusal?.rule, within(refusal?.waitMs)]).toEqual(['code_account', true]);
    expect(await count('b')).toBeUndefined();
  });

  test('to another address count for that one too, over all accounts, and for the user whatever the address', async () => {
    const count = newLimit();
    expect(await count('a', { userId: '1', recipient: 'x' })).toBeUndefined();
    expect(await count('b', { userId: '2', recipient: 'x' })).toBeUndefined();
    const refusal = await count('c', { userId: '3', recipient: 'x' });
    expect([refusal?.rule, within(refusal?.waitMs)]).toEqual(['code_recipient', true]);
    expect(await count('d', { userId: '1', recipient: 'y' })).toBeUndefined();
    expect(await count('e', { userId: '1', recipient: 'z' })).toMatchObject({ rule: 'code_account' });
  });
});
