import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import type { AppError } from '@auth-account/errors';
import { createLimitKeys, failFastOptions } from '@auth-account/redis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createLimits, type Limits, type Login } from '../../../services/api/src/limits/limits.ts';
import { type LimitSettings, limitConfig } from '../../../services/api/src/limits/limits-table.ts';
import type { RequestOrigin } from '../../../services/api/src/request/request-origin.ts';
import { testEnvironment, uniqueName } from '../../support/test-api.ts';

const redis = new Redis(testEnvironment().redisUrl);
const secret = createSecretKey(randomBytes(32));
const settings = Object.fromEntries(Object.keys(limitConfig).map((name) => [name, 999])) as unknown as LimitSettings;
const quarterMs = 900_000;
const dayMs = 86_400_000;
let time: number;
let prefix: string;
let refusals: unknown[];
beforeAll(() => redis.ping());
beforeEach(() => {
  [time, prefix, refusals] = [Date.now(), uniqueName(), []];
});
afterAll(() => redis.disconnect());

const newLimits = (connection = redis): Limits =>
  createLimits({
    redis: connection,
    keyPrefix: prefix,
    secret: () => secret,
    settings,
    onRefused: (rule) => void refusals.push(rule),
    now: () => time,
    onInsured: () => undefined,
  });

const login = (change: Partial<Login> = {}): Login => ({
  email: 'Cook@example.com',
  deviceId: randomUUID(),
  ...change,
});
const from = (network: string): RequestOrigin => ({ requestId: 'r', network });
let lastNetwork = 0;
const somewhere = () => {
  lastNetwork += 1;
  return from(`198.51.${lastNetwork >> 8}.${lastNetwork & 255}`);
};

/** Tries a wrong factor. Returns the tries that are left, or undefined if there is no verdict. */
async function guess(limits: Limits, who: Login, origin: RequestOrigin): Promise<number | undefined> {
  return limits.secondFactor(who, origin).then(
    ({ triesLeft }) => triesLeft,
    (error: { readonly code: string }) => void expect(error.code).toBe('ERR-RATE-LIMITED'),
  );
}

async function guessTimes(limits: Limits, times: number, who: Login, origin: RequestOrigin) {
  const left: (number | undefined)[] = [];
  for (let i = 0; i < times; i += 1) left.push(await guess(limits, who, origin));
  return left;
}
const [five, none] = [[4, 3, 2, 1, 0], Array<undefined>(5).fill(undefined)];

test('five of 200 simultaneous tries of a second factor at several apis from as many networks get a verdict', async () => {
  const apis = [newLimits(), newLimits(), newLimits()];
  const all = Array.from({ length: 200 }, (_, i) => guess(apis[i % 3] ?? newLimits(), login(), somewhere()));
  const verdicts = (await Promise.all(all)).filter((left) => left !== undefined);
  expect(verdicts.toSorted()).toEqual([0, 1, 2, 3, 4]);
  expect(refusals).toEqual(Array(195).fill('second_factor'));
});

test('unknown clients share five tries of a second factor, and each known device and network has five of its own', async () => {
  const limits = newLimits();
  const [owner, home] = [login(), somewhere()];
  await limits.completed(owner, home);
  expect(await guessTimes(limits, 6, login(), somewhere())).toEqual([...five, undefined]);
  expect(await guessTimes(limits, 6, owner, somewhere())).toEqual([...five, undefined]);
  expect(await guessTimes(limits, 6, login({ deviceId: undefined }), home)).toEqual([...five, undefined]);
  expect(await guess(limits, login(), somewhere())).toBeUndefined();
});

test.each(['registered', 'verified', 'proved'] as const)(
  'a device and network that were %s are not known to the second factor for that',
  async (step) => {
    const limits = newLimits();
    const [owner, home] = [login(), somewhere()];
    await limits[step](owner, home);
    await guessTimes(limits, 5, login(), somewhere());
    expect(await guess(limits, owner, home)).toBeUndefined();
  },
);

test.each<[string, (limits: Limits, who: Login, origin: RequestOrigin) => Promise<void>]>([
  ['a reset', (limits, who, origin) => limits.proved(who, origin)],
  ['a first proof', (limits, who, origin) => limits.registered(who, origin)],
  ['an undo', (limits, { email }) => limits.undone(email)],
])('no device or network stays known to the second factor after %s', async (_, recover) => {
  const limits = newLimits();
  const [thief, den] = [login(), somewhere()];
  await limits.completed(thief, den);
  await recover(limits, login(), somewhere());
  await guessTimes(limits, 5, login(), somewhere());
  expect(await guess(limits, thief, den)).toBeUndefined();
});

test('no device or network is known to the second factor because a password was right there', async () => {
  const limits = newLimits();
  const [owner, home] = [login(), somewhere()];
  await (await limits.logIn(owner, home)).succeed();
  await guessTimes(limits, 5, login(), somewhere());
  expect(await guess(limits, owner, home)).toBeUndefined();
});

test('the user of a session has five tries of a second factor, which its device does not lose', async () => {
  const limits = newLimits();
  const [owner, home, sid] = [login(), somewhere(), randomUUID()];
  const stepUp = (sessionId: string) =>
    limits.stepUp(sessionId, home).then(
      ({ triesLeft }) => triesLeft,
      () => undefined,
    );
  const left: unknown[] = [];
  for (let i = 0; i < 6; i += 1) left.push(await stepUp(sid));
  expect(left).toEqual([...five, undefined]);
  expect(await stepUp(randomUUID())).toBe(4);
  await limits.completed(owner, home);
  expect(await guess(limits, owner, home)).toBe(4);
});

test('unknown clients have at most 100 tries of a second factor in a day', async () => {
  const limits = newLimits();
  for (let i = 0; i < 20; i += 1) {
    expect(await guessTimes(limits, 5, login(), somewhere())).toEqual(five);
    time += quarterMs;
  }
  const refusal: unknown = await limits.secondFactor(login(), somewhere()).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ retryAfterSeconds: (dayMs - 20 * quarterMs) / 1_000 });
  time += dayMs - 20 * quarterMs;
  expect(await guess(limits, login(), somewhere())).toBe(4);
});

test('each account has its own tries of a second factor, whatever the case of its address', async () => {
  const limits = newLimits();
  await guessTimes(limits, 5, login(), somewhere());
  expect(await guess(limits, login({ email: 'cook@EXAMPLE.com' }), somewhere())).toBeUndefined();
  expect(await guess(limits, login({ email: 'other@example.com' }), somewhere())).toBe(4);
});

test('each try of a second factor counts for a quarter of an hour, and a refused try does not count', async () => {
  const limits = newLimits();
  const minuteMs = 60_000;
  for (const left of five) {
    expect(await guess(limits, login(), somewhere())).toBe(left);
    time += minuteMs;
  }
  const refusal: unknown = await limits.secondFactor(login(), somewhere()).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ retryAfterSeconds: 600 });
  time += quarterMs - 5 * minuteMs - 1;
  expect(await guess(limits, login(), somewhere())).toBeUndefined();
  time += 1;
  expect(await guessTimes(limits, 2, login(), somewhere())).toEqual([0, undefined]);
});

describe('an alarming try', () => {
  const alarmsOf = async (times: number, take: () => ReturnType<Limits['secondFactor']>) => {
    const alarms: boolean[] = [];
    for (let i = 0; i < times; i += 1) alarms.push((await take()).isAlarming);
    return alarms;
  };
  const calm = (times: number) => Array<boolean>(times).fill(false);

  test('a try of an unknown client is alarming if it is the last one left, or the tenth in a day', async () => {
    const limits = newLimits();
    const stranger = () => limits.secondFactor(login(), somewhere());
    expect(await alarmsOf(5, stranger)).toEqual([...calm(4), true]);
    time += quarterMs;
    expect(await alarmsOf(4, stranger)).toEqual(calm(4));
    time += quarterMs;
    expect(await alarmsOf(1, stranger)).toEqual([true]);
    time += dayMs;
    expect(await alarmsOf(5, stranger)).toEqual([...calm(4), true]);
  });

  test('a try on a known device or in a session is not alarming', async () => {
    const limits = newLimits();
    const [owner, home] = [login(), somewhere()];
    await limits.completed(owner, home);
    for (let quarter = 0; quarter < 3; quarter += 1) {
      expect(await alarmsOf(5, () => limits.secondFactor(owner, somewhere()))).toEqual(calm(5));
      expect(await alarmsOf(5, () => limits.stepUp('session', home))).toEqual(calm(5));
      time += quarterMs;
    }
  });

  test('the last try is alarming while Redis is away', async () => {
    const away = new Redis({ ...failFastOptions(), lazyConnect: true });
    away.disconnect();
    const limits = newLimits(away);
    expect(await alarmsOf(5, () => limits.secondFactor(login(), somewhere()))).toEqual([...calm(4), true]);
  });
});

test('an account knows its 20 latest devices and networks for the second factor, each for 180 days', async () => {
  const limits = newLimits();
  const places = Array.from({ length: 11 }, () => [login(), somewhere()] as const);
  for (const [device, network] of places) {
    await limits.completed(device, network);
    time += 1;
  }
  await guessTimes(limits, 5, login(), somewhere());
  const [[first] = [login()], [second] = [login()]] = places;
  expect([await guess(limits, first, somewhere()), await guess(limits, second, somewhere())]).toEqual([undefined, 4]);
  const known = createLimitKeys(prefix, () => secret);
  const key = known.factorKnownOf(known.tagOf('account', 'cook@example.com'));
  expect(await redis.zcard(key)).toBe(20);
  expect(await redis.pttl(key)).toBeGreaterThan(180 * dayMs - 60_000);
  time += 180 * dayMs;
  await guessTimes(limits, 5, login(), somewhere());
  expect(await guess(limits, second, somewhere())).toBeUndefined();
});

test('a login without a device makes its network known, and no other client without a device', async () => {
  const limits = newLimits();
  const home = somewhere();
  await limits.completed(login({ deviceId: undefined }), home);
  const keys = createLimitKeys(prefix, () => secret);
  expect(await redis.zcard(keys.factorKnownOf(keys.tagOf('account', 'cook@example.com')))).toBe(1);
  await guessTimes(limits, 5, login(), somewhere());
  expect(await guess(limits, login({ deviceId: undefined }), somewhere())).toBeUndefined();
  expect(await guess(limits, login(), home)).toBe(4);
});

test('a right second factor gives its try back', async () => {
  const limits = newLimits();
  await guessTimes(limits, 4, login(), somewhere());
  for (let i = 0; i < 3; i += 1) {
    const taken = await limits.secondFactor(login(), somewhere());
    expect(taken.triesLeft).toBe(0);
    await taken.giveBack();
  }
  expect(await guessTimes(limits, 2, login(), somewhere())).toEqual([0, undefined]);
});

test('the tries of a second factor are named by HMACs and forgotten after a day', async () => {
  await guess(newLimits(), login(), somewhere());
  const [key = '', ...others] = await redis.keys(`{${prefix}}:limit:*`);
  const account = createLimitKeys(prefix, () => secret).tagOf('account', 'cook@example.com');
  expect([key, others]).toEqual([`{${prefix}}:limit:second-factor:${account}`, []]);
  const leftMs = await redis.pttl(key);
  expect(leftMs).toBeGreaterThan(dayMs - 60_000);
  expect(leftMs).toBeLessThanOrEqual(dayMs);
});

describe('second factors while Redis is away', () => {
  const away = new Redis({ ...failFastOptions(), lazyConnect: true });
  away.disconnect();
  afterAll(() => away.disconnect());

  test('each process allows five tries of a second factor for an account while Redis is away', async () => {
    const limits = newLimits(away);
    const all = await Promise.all(Array.from({ length: 10 }, () => guess(limits, login(), somewhere())));
    expect(all).toEqual([...five, ...none]);
    const refusal: unknown = await limits.secondFactor(login(), somewhere()).catch((error: unknown) => error);
    const { retryAfterSeconds = 0 } = refusal as AppError;
    expect([retryAfterSeconds > 800, retryAfterSeconds <= 900]).toEqual([true, true]);
    expect(await guess(limits, login({ email: 'other@example.com' }), somewhere())).toBe(4);
  });

  test('a right second factor gives its try back while Redis is away, and nothing is thrown', async () => {
    const limits = newLimits(away);
    await guessTimes(limits, 4, login(), somewhere());
    await (await limits.secondFactor(login(), somewhere())).giveBack();
    await limits.completed(login(), somewhere());
    expect(await guessTimes(limits, 2, login(), somewhere())).toEqual([0, undefined]);
  });
});
