import { createSecretKey, randomBytes } from 'node:crypto';
import { type RouteName, routes } from '@auth-account/contracts';
import { createLimitKeys } from '@auth-account/redis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { limitedRoutes } from '../../../services/api/src/limits/limited-routes.ts';
import { createLimits, type Limits } from '../../../services/api/src/limits/limits.ts';
import { type LimitSettings, limitConfig, requestLimits } from '../../../services/api/src/limits/limits-table.ts';
import type { RequestOrigin } from '../../../services/api/src/request/request-origin.ts';
import { goodRequests, sendTo } from '../../support/api/good-requests.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';

const redis = new Redis(testEnvironment().redisUrl);
const secret = createSecretKey(randomBytes(32));
let prefix: string;
// Before Redis is connected, the limits would count in the process.
beforeAll(() => redis.ping());
beforeEach(() => {
  prefix = uniqueName();
});
afterAll(() => redis.disconnect());

/** Limits that no test reaches. */
const plenty = Object.fromEntries(Object.keys(limitConfig).map((name) => [name, 999])) as unknown as LimitSettings;

const originOf = (network: string): RequestOrigin => ({ requestId: 'r', network });
const here = originOf('192.0.2.1');
const elsewhere = originOf('192.0.2.2');
const network = '192.0.2.1/32';

const keys = () => createLimitKeys(prefix, () => secret);

/** Creates limits with their own prefix in Redis, and a list of the rules that have refused. */
function newLimits(change: Partial<LimitSettings> = {}, readSecret = () => secret) {
  const refusals: unknown[] = [];
  const limits = createLimits({
    redis,
    keyPrefix: prefix,
    secret: readSecret,
    settings: { ...plenty, ...change },
    onRefused: (rule, origin) => void refusals.push([rule, origin]),
    now: Date.now,
    onInsured: () => void refusals.push('Redis is away'),
  });
  return { limits, refusals };
}

const keysLike = async (name: string) => (await redis.keys(`{${prefix}}:limit:${name}`)).sort();

/** Allows for a difference between the clocks of Redis and the test. */
const slackMs = 1_000;

/** Expects that the window of this length began after `begin`. */
function expectRest(leftMs: number, seconds: number, begin: number): void {
  expect(leftMs).toBeLessThanOrEqual(seconds * 1_000);
  expect(leftMs).toBeGreaterThanOrEqual(seconds * 1_000 - (performance.now() - begin) - slackMs);
}

const limited = { code: 'ERR-RATE-LIMITED' };
const refusedBy = (rule: string, origin = here) => [rule, origin];

/** Expects that the second try is refused for the rest of the window, and that somebody else's try is not. */
async function expectSecondRefused(
  { refusals }: ReturnType<typeof newLimits>,
  row: { readonly rule: string; readonly seconds: number; readonly key: string },
  [own, other]: readonly [own: () => Promise<void>, other: () => Promise<void>],
): Promise<void> {
  const begin = performance.now();
  await own();
  expect(await keysLike('*')).toEqual([row.key]);
  expectRest(await redis.pttl(row.key), row.seconds, begin);
  expect(refusals).toEqual([]);
  const refusal: unknown = await own().catch((error: unknown) => error);
  expect(refusal).toMatchObject(limited);
  const { retryAfterSeconds } = refusal as { readonly retryAfterSeconds: number };
  expectRest(retryAfterSeconds * 1_000, row.seconds, begin);
  expect(refusals).toEqual([refusedBy(row.rule)]);
  await other();
  expect(await keysLike('*')).toHaveLength(2);
}

const [minute, hour, day] = [60, 3_600, 86_400];
/** Names in Redis and lengths of the windows. A change of these would begin every count anew. */
const written = {
  ...{ register: ['register', hour], logIn: ['login', 15 * minute], refresh: ['refresh', minute] },
  ...{ findInvite: ['invite', minute], createInvite: ['create-invite', hour], move: ['move', hour] },
  ...{ write: ['write', minute], changePassword: ['password-change', day], orderDeletion: ['deletion', day] },
  ...{ exportAccount: ['export', hour], askForCode: ['code', hour], tryCode: ['code-try', minute] },
  readRevocations: ['revocations', minute],
};

/** Returns the account as the function of the row takes it. */
const whoOf = (row: object, account: string) => ('isGivenBack' in row ? { _id: account, email: account } : account);

describe('a limit of one request', () => {
  test('each limit of one request has the name in Redis and the window that it always had', () => {
    const rows = Object.entries(requestLimits).map(([name, { key, window }]) => [name, [key, window.seconds]]);
    expect(Object.fromEntries(rows)).toMatchObject(written);
  });

  const names = Object.keys(requestLimits) as (keyof typeof requestLimits)[];
  test.each(names)('the limit %s of one request refuses the second', async (name) => {
    const { rule, per, setting, key: part, window, ...row } = requestLimits[name];
    const all = newLimits({ [setting]: 1 });
    const take = (network: string, account: string) => async () => {
      const origin = { ...here, network };
      if (name === 'logIn') await all.limits.logIn(account, origin);
      else
        await (all.limits[name] as (...args: unknown[]) => Promise<void>)(
          ...(per === 'network' ? [] : [whoOf(row, account)]),
          origin,
        );
    };
    const tag =
      per === 'network' ? keys().tagOf('address', part, network) : keys().tagOf('account', part, 'cook@example.com');
    const counted = { rule, seconds: window.seconds, key: `${keys().nameOf(part)}:${tag}` };
    const other = per === 'network' ? take('192.0.2.2', 'cook@example.com') : take('192.0.2.1', 'other@example.com');
    await expectSecondRefused(all, counted, [take('192.0.2.1', 'cook@example.com'), other]);
  });

  test('the deletion of an account is counted whatever the case of its email address', async () => {
    const { limits } = newLimits({ DELETION_LIMIT_PER_USER: 1 });
    await limits.orderDeletion({ _id: 'cook', email: 'cook@example.com' }, here);
    const again = limits.orderDeletion({ _id: 'cook', email: 'Cook@Example.com' }, elsewhere);
    await expect(again).rejects.toMatchObject(limited);
  });
});

describe('the limits of each route', () => {
  let api: TestApi;
  beforeAll(async () => {
    // Refreshes below a thousand are counted in Redis at once.
    api = await startTestApi({ REFRESH_LIMIT_PER_ADDRESS: '999' });
  });
  afterAll(() => api.close());

  /** Returns the limits that have counted a request since the last call. */
  async function takeCounted(): Promise<string[]> {
    const names = await redis.keys(`{${api.keyPrefix}}:limit:*`);
    if (names.length > 0) await redis.del(names);
    const parts = names.map((name) => name.split(':').at(2));
    const rows = Object.entries(requestLimits).filter(([, { key }]) => parts.includes(key));
    return rows.map(([name]) => name);
  }

  test.each(Object.keys(routes) as RouteName[])('a good request of %s is counted by its limits alone', async (name) => {
    const limits = limitedRoutes[name];
    const request = await goodRequests[name](api);
    await takeCounted();
    expect((await sendTo(name, api, request)).status).toBeLessThan(300);
    const counted = await takeCounted();
    expect(counted).toEqual(expect.arrayContaining(limits.filter((limit) => !limit.endsWith('?'))));
    expect(limits.map((limit) => limit.replace('?', ''))).toEqual(expect.arrayContaining(counted));
    // A route without them may still have a rule of its own on codes or passwords.
    if (limits.length > 0) expect(routes[name].errors).toContain('ERR-RATE-LIMITED');
  });
});

describe('denials that were sent to an internal service', () => {
  test('each 500 denials that were sent to an internal service weigh as one request, and fewer weigh nothing', async () => {
    const { limits } = newLimits({ REVOCATION_LIMIT_PER_SIBLING: 3 });
    await limits.revocationsSent('a', 499);
    expect(await keysLike('*')).toEqual([]);
    await limits.revocationsSent('a', 1_499);
    const [key = ''] = await keysLike('revocations:*');
    expect(await redis.get(key)).toBe('2');
    await limits.readRevocations('a', here);
    await expect(limits.readRevocations('a', here)).rejects.toMatchObject(limited);
    await limits.readRevocations('b', here);
  });

  test('denials that were sent are never refused themselves, but the next request is', async () => {
    const { limits, refusals } = newLimits({ REVOCATION_LIMIT_PER_SIBLING: 1 });
    await limits.revocationsSent('a', 1_000);
    await limits.revocationsSent('a', 1_000);
    expect(refusals).toEqual([]);
    await expect(limits.readRevocations('a', here)).rejects.toMatchObject(limited);
    expect(refusals).toEqual([refusedBy('revocation_sibling')]);
  });
});

describe('the count of a code for an account', () => {
  const email = 'Cook@example.com';
  const account = 'cook@example.com';
  const deviceSecret = 'b3c1f2d46d0a4f6e9a8b7c';
  const byDevice: RequestOrigin = { ...here, deviceSecret };
  const byDeviceElsewhere: RequestOrigin = { ...elsewhere, deviceSecret };
  const accountTag = () => keys().tagOf('account', account);
  const deviceTag = () => keys().tagOf('account-holder', account, `secret:${deviceSecret}`);
  const networkTag = () => keys().tagOf('account-address', account, network);
  const change = { userId: 'user-1', to: 'New@example.com' };
  const ofRequest = { email, isVerified: true, hasAccess: false };

  /** Returns the names, without the common part, of all keys that a request for a code writes. */
  async function writtenBy(order: Partial<Parameters<Limits['requestCode']>[0]>, origin = byDevice): Promise<string[]> {
    const { limits } = newLimits();
    await limits.registered(email, byDevice);
    await limits.requestCode({ ...ofRequest, ...order }, origin);
    const written = (await keysLike('*')).map((key) => key.slice(`{${prefix}}:limit:`.length));
    return written.filter((name) => !/^(login-known|login-proven):/.test(name));
  }

  test('a code is counted for the device on which a verified account was registered', async () => {
    expect(await writtenBy({})).toEqual([`code-device:${deviceTag()}`]);
    expect(await writtenBy({}, byDeviceElsewhere)).toEqual([`code-device:${deviceTag()}`]);
  });

  test('a code is counted for the network from which a verified account was registered', async () => {
    expect(await writtenBy({}, here)).toEqual([`code-network:${networkTag()}`]);
  });

  test('a code is counted for all known clients of an unverified account, and of one to which the client has access', async () => {
    expect(await writtenBy({ isVerified: false })).toEqual([`code-known:${accountTag()}`]);
    expect(await writtenBy({ hasAccess: true }, elsewhere)).toEqual([`code-known:${accountTag()}`]);
    // A thief may have used the count up before the recovery.
    const recovered = keys().tagOf('account', `${account} 7`);
    prefix = uniqueName();
    expect(await writtenBy({ hasAccess: true, recoveredAt: new Date(7) }, elsewhere)).toEqual([
      `code-known:${recovered}`,
    ]);
  });

  test('a code is counted for all unknown clients together', async () => {
    const written = await writtenBy({}, elsewhere);
    expect(written).toEqual([`code-strange:${accountTag()}`, 'crowd:code']);
    expect(await redis.zrange(keys().accountLruOf('code'), '0', '-1')).toEqual([accountTag()]);
  });

  test('a code for a new email address is counted for the user and for that address, and for no device or network', async () => {
    for (const isVerified of [true, false]) {
      prefix = uniqueName();
      expect(await writtenBy({ isVerified, change })).toEqual([
        `code-known:${keys().tagOf('account', 'user-1')}`,
        `code-recipient:${keys().tagOf('account', 'new@example.com')}`,
      ]);
    }
  });

  test('a code past the limit of the account or of the new email address is refused', async () => {
    const { limits, refusals } = newLimits({ CODE_LIMIT_PER_ACCOUNT: 1 });
    const ask = (order: object) => limits.requestCode({ ...ofRequest, ...order }, here);
    await ask({});
    await expect(ask({})).rejects.toMatchObject(limited);
    await ask({ change });
    await expect(ask({ change: { ...change, userId: 'user-2' } })).rejects.toMatchObject(limited);
    expect(refusals).toEqual([refusedBy('code_account'), refusedBy('code_recipient')]);
  });
});

describe('a try of a password', () => {
  const email = 'Cook@example.com';
  const deviceSecret = 'b3c1f2d46d0a4f6e9a8b7c';
  const atHome = { ...here, deviceSecret };
  /** Begins a try by that way. */
  const begin = (limits: Limits, step: 'logIn' | 'replay' | 'guess', origin: RequestOrigin) =>
    step === 'guess' ? limits.guess(email, { sid: 'session', amr: ['pwd'] }, origin) : limits[step](email, origin);
  const failures = () => keysLike('login-failed:*');

  /**
   * Returns for the device and the network whether the account knows them permanently, or null if it does not know
   * them.
   */
  async function known(): Promise<unknown[]> {
    const device = keys().tagOf('account-holder', 'cook@example.com', `secret:${deviceSecret}`);
    const networkTag = keys().tagOf('account-address', 'cook@example.com', network);
    const scores = await redis.zmscore(keys().knownOf(keys().tagOf('account', 'cook@example.com')), device, networkTag);
    return scores.map((score) => score && Number(score) > 1e15);
  }
  test.each([
    ['logIn', 1, [false, false]],
    ['replay', 0, [false, false]],
    ['guess', 0, [null, null]],
  ] as const)(
    'a password checked by %s counts for %i logins of its network, and makes device and network known as %j',
    async (step, logins, scores) => {
      const { limits, refusals } = newLimits();
      const attempt = await begin(limits, step, atHome);
      expect(await keysLike('login:*')).toHaveLength(logins);
      expect(await keysLike('login-*')).toEqual([]);
      await attempt.fail();
      expect(await failures()).toHaveLength(1);
      await attempt.succeed();
      expect(await known()).toEqual(scores);
      expect(refusals).toEqual([]);
    },
  );

  test.each(['logIn', 'replay', 'guess'] as const)(
    'a failure and a success after the hash of %s are refused past the limit too',
    async (step) => {
      const { limits, refusals } = newLimits({ LOGIN_ACCOUNT_FAILURES_PER_DAY: 1, LOGIN_KNOWN_FAILURES_PER_DAY: 1 });
      const attempt = await begin(limits, step, here);
      await attempt.fail();
      await expect(attempt.fail()).rejects.toMatchObject(limited);
      await expect(attempt.succeed()).rejects.toMatchObject(limited);
      await expect(begin(limits, step, elsewhere)).rejects.toMatchObject(limited);
      const refused = [here, here, elsewhere].map((origin) => refusedBy('login_account_day', origin));
      expect(refusals).toEqual(refused);
    },
  );

  test.each([
    ['registered', 0],
    ['proved', 0],
    ['verified', 1],
  ] as const)(
    'the step %s makes device and network permanently known, and leaves %i counts of failures',
    async (step, left) => {
      const { limits } = newLimits();
      await (await limits.logIn(email, elsewhere)).fail();
      await limits[step](email, atHome);
      expect(await known()).toEqual([true, true]);
      expect(await failures()).toHaveLength(left);
    },
  );

  test('wrong passwords in one session use up no try of another, whose device_id it may have named', async () => {
    const { limits } = newLimits({ LOGIN_KNOWN_FAILURES_PER_DAY: 1, LOGIN_ACCOUNT_FAILURES_PER_DAY: 1 });
    const guess = (sid: string) => limits.guess(email, { sid, amr: ['fed'] }, here);
    await (await guess('thief')).fail();
    await expect(guess('thief')).rejects.toMatchObject(limited);
    await (await guess('owner')).succeed();
  });

  test('a session has wrong passwords of its own only if its user has shown the password in it', async () => {
    const { limits } = newLimits();
    const verdictsOf = async (amr?: string[]) => {
      let verdicts = 0;
      const session = { sid: `sid-${amr}`, ...(amr && { amr }) };
      const isVerdict = async () => {
        const attempt = await limits.guess(email, session, here).catch(() => undefined);
        return attempt !== undefined && (await attempt.fail().then(() => true));
      };
      while (await isVerdict()) verdicts += 1;
      return verdicts;
    };
    expect(await verdictsOf(['fed'])).toBe(70);
    expect(await verdictsOf()).toBe(0);
    expect(await verdictsOf(['pwd', 'otp', 'mfa'])).toBe(10);
  });

  test('a try of a password makes the names of its keys at its first step only', async () => {
    let made = 0;
    const { limits } = newLimits({}, () => {
      made += 1;
      return secret;
    });
    const attempt = await limits.logIn(email, here);
    const first = made;
    await attempt.fail();
    expect([first > 0, made]).toEqual([true, first]);
  });
});
