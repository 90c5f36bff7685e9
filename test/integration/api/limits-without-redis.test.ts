import { createSecretKey, randomBytes } from 'node:crypto';
import { createLimitKeys, failFastOptions } from '@auth-account/redis';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createCodeLimit } from '../../../services/api/src/limits/code-limit.ts';
import { createLoginLimits, type LoginLimits, refusalOf } from '../../../services/api/src/limits/login-limits.ts';
import { createRequestLimit } from '../../../services/api/src/limits/request-limit.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';

const dayMs = 86_400_000;
/** The clock of the counts may be this much too old. */
const slackMs = 60_000;
const isWithin = (waitMs = 0, windowMs = 0) => waitMs > 1_000 && waitMs <= windowMs + slackMs;
const secret = createSecretKey(randomBytes(32));
const keys = createLimitKeys(uniqueName(), () => secret);
/** A client that never connects. */
const redis = new Redis({ ...failFastOptions(), lazyConnect: true });
redis.disconnect();
afterAll(() => redis.disconnect());

describe('a limit by network without Redis', () => {
  const seconds = 3_600;
  const newLimit = () => createRequestLimit({ redis, keys, name: 'login', points: 3, seconds });

  test('a limit by network is counted by the process without Redis, with the weight of each request', async () => {
    const limit = newLimit();
    for (const weight of [undefined, 2]) expect(await limit.count('a', weight)).toBeUndefined();
    const waitMs = await limit.count('a');
    expect(isWithin(waitMs, seconds * 1_000)).toBe(true);
    expect(limit.refusedFor('a')).toBeGreaterThan(0);
    expect(await limit.count('b')).toBeUndefined();
    expect(limit.keyOf('a')).toContain(keys.tagOf('address', 'login', 'a'));
  });

  test('a limit does not wait for a connection that is not open yet, even if that would queue commands', async () => {
    const unmade = new Redis(testEnvironment().redisUrl, { lazyConnect: true });
    const limit = createRequestLimit({ redis: unmade, keys, name: 'login', points: 1, seconds });
    expect(await limit.count('a')).toBeUndefined();
    expect(await limit.count('a')).toBeGreaterThan(1);
    const { status } = unmade;
    unmade.disconnect();
    expect(status).toBe('wait');
  });

  test('a limit refuses from memory for as long as was said first', async () => {
    const limit = newLimit();
    limit.refuse('a', 60_000);
    limit.refuse('a', 120_000);
    const waitMs = await limit.count('a');
    expect(waitMs).toBeGreaterThan(1);
    expect(waitMs).toBeLessThanOrEqual(60_000);
    limit.refuse('b', 0);
    expect(await limit.count('b')).toBeUndefined();
  });

  test('ten refusals are answered at once, and each further one a second later', async () => {
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

describe('codes by email without Redis', () => {
  const perDay = 2;
  const newLimit = () => {
    const limit = createCodeLimit({ redis, keys, perDay, now: Date.now });
    return (emailKey: string, change: { readonly userId?: string; readonly recipient?: string } = {}) => {
      const { userId, recipient } = change;
      const client = { holder: undefined, prefix: '192.0.2.1/32' };
      return limit.count({ ...client, emailKey, userId, recipient, hasOwnCounts: true, hasAccess: true });
    };
  };

  test('codes are counted by account without Redis, with no known device', async () => {
    const count = newLimit();
    expect([await count('a'), await count('a')]).toEqual([undefined, undefined]);
    const refusal = await count('a');
    expect([refusal?.rule, isWithin(refusal?.waitMs, dayMs)]).toEqual(['code_account', true]);
    expect(await count('b')).toBeUndefined();
  });

  test('codes to a new email address are counted for it over all accounts, and for the user over all addresses, without Redis', async () => {
    const count = newLimit();
    expect(await count('a', { userId: '1', recipient: 'x' })).toBeUndefined();
    expect(await count('b', { userId: '2', recipient: 'x' })).toBeUndefined();
    const refusal = await count('c', { userId: '3', recipient: 'x' });
    expect([refusal?.rule, isWithin(refusal?.waitMs, dayMs)]).toEqual(['code_recipient', true]);
    expect(await count('d', { userId: '1', recipient: 'y' })).toBeUndefined();
    expect(await count('e', { userId: '1', recipient: 'z' })).toMatchObject({ rule: 'code_account' });
  });
});

describe('logins without Redis', () => {
  const settings = {
    LOGIN_LIMIT_PER_ADDRESS: 999,
    LOGIN_FREE_FAILURES: 2,
    LOGIN_LONGEST_DELAY_SECONDS: 900,
    LOGIN_ACCOUNT_FREE_FAILURES: 99,
    LOGIN_ACCOUNT_LONGEST_DELAY_SECONDS: 30,
    LOGIN_ACCOUNT_FAILURES_PER_DAY: 99,
    LOGIN_KNOWN_FAILURES_PER_DAY: 99,
  };
  let insured = 0;
  const newLimits = (change: Partial<typeof settings> = {}) => {
    const all = { ...settings, ...change };
    const networks = createRequestLimit({
      redis,
      keys,
      name: 'login',
      points: all.LOGIN_LIMIT_PER_ADDRESS,
      seconds: 900,
    });
    const onInsured = () => {
      insured += 1;
    };
    return createLoginLimits({ redis, keys, networks, settings: all, now: Date.now, onInsured });
  };
  const at = (prefix: string, emailKey = 'a') => ({ emailKey, holder: 'd', prefix });
  const [here, there] = [at('192.0.2.1/32'), at('192.0.2.2/32')];
  const quarterMs = 900_000;

  /** Reports this number of wrong passwords. Returns the rules that refuse. */
  async function failTimes(limits: LoginLimits, times: number, who = here) {
    const refusals: unknown[] = [];
    while (refusals.length < times) refusals.push(refusalOf(await limits.fail(who))?.rule);
    return refusals;
  }
  const none = (times: number) => Array<undefined>(times).fill(undefined);

  test('logins wait after twice the free failures from one source without Redis, at every step that judges', async () => {
    const limits = newLimits();
    expect(await failTimes(limits, 4)).toEqual(none(4));
    insured = 0;
    for (const step of ['check', 'checkGuess', 'fail', 'succeed', 'confirm', 'check'] as const) {
      const refusal = refusalOf(await limits[step](here));
      expect([refusal?.rule, isWithin(refusal?.waitMs, quarterMs)]).toEqual(['login_source', true]);
    }
    expect(insured).toBe(6);
    for (const other of [there, at(here.prefix, 'b')]) expect(await limits.check(other)).toBeUndefined();
  });

  test('logins wait for the rest of the day without Redis once the account has its failures, from wherever', async () => {
    const limits = newLimits({ LOGIN_ACCOUNT_FAILURES_PER_DAY: 2 });
    expect([...(await failTimes(limits, 1)), ...(await failTimes(limits, 1, there))]).toEqual(none(2));
    for (const who of [here, there, at('192.0.2.3/32')]) {
      const { rule, waitMs = 0 } = (await limits.check(who)) ?? {};
      const isRestOfDay = waitMs > 2 * quarterMs && isWithin(waitMs, dayMs);
      expect([rule, isRestOfDay]).toEqual(['login_account_day', true]);
    }
    expect(await limits.check(at(here.prefix, 'b'))).toBeUndefined();
  });

  test('a failure that is refused is not counted without Redis', async () => {
    const limits = newLimits({ LOGIN_ACCOUNT_FAILURES_PER_DAY: 5 });
    expect(await failTimes(limits, 9)).toEqual([...none(4), ...Array(5).fill('login_source')]);
    expect(await failTimes(limits, 2, there)).toEqual([undefined, 'login_account_day']);
  });

  test.each(['succeed', 'confirm'] as const)(
    'the step %s forgets the source’s failures without Redis, not the account’s',
    async (step) => {
      const limits = newLimits({ LOGIN_ACCOUNT_FAILURES_PER_DAY: 6 });
      await failTimes(limits, 3);
      expect(await limits[step](here)).toBeUndefined();
      expect(await failTimes(limits, 4)).toEqual([...none(3), 'login_account_day']);
    },
  );

  test.each(['register', 'prove'] as const)(
    'the step %s forgets the failures of the source and of the account without Redis',
    async (step) => {
      const limits = newLimits({ LOGIN_ACCOUNT_FAILURES_PER_DAY: 4 });
      await failTimes(limits, 4);
      expect(await limits[step](there)).toBeUndefined();
      expect(await limits.check(here)).toMatchObject({ rule: 'login_source' });
      expect(await limits[step](here)).toBeUndefined();
      expect(await failTimes(limits, 5)).toEqual([...none(4), 'login_source']);
    },
  );

  test('the step verify counts and forgets nothing without Redis', async () => {
    const limits = newLimits({ LOGIN_ACCOUNT_FAILURES_PER_DAY: 3 });
    await failTimes(limits, 2);
    for (let i = 0; i < 9; i += 1) expect(await limits.verify(here)).toBeUndefined();
    expect(await failTimes(limits, 2)).toEqual([undefined, 'login_account_day']);
    expect(await limits.verify(here)).toBeUndefined();
    expect(await limits.check(here)).toMatchObject({ rule: 'login_account_day' });
  });

  test('logins wait past the total of a network without Redis, and only logins count', async () => {
    const limits = newLimits({ LOGIN_LIMIT_PER_ADDRESS: 2 });
    for (const emailKey of ['a', 'b', 'c', 'd']) {
      expect(await limits.checkGuess(at(here.prefix, emailKey))).toBeUndefined();
    }
    for (const emailKey of ['a', 'b']) expect(await limits.check(at(here.prefix, emailKey))).toBeUndefined();
    for (const emailKey of ['c', 'd']) {
      const refusal = await limits.check(at(here.prefix, emailKey));
      expect([refusal?.rule, isWithin(refusal?.waitMs, quarterMs)]).toEqual(['login_address', true]);
    }
    expect(await limits.check(there)).toBeUndefined();
  });
});
