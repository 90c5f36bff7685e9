import { createSecretKey, randomBytes } from 'node:crypto';
import type { AppError } from '@auth-account/errors';
import { createLimitKeys, failFastOptions } from '@auth-account/redis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createLimits, type Limits } from '../../../services/api/src/limits/limits.ts';
import { type LimitSettings, limitConfig } from '../../../services/api/src/limits/limits-table.ts';
import type { RequestOrigin } from '../../../services/api/src/request/request-origin.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';

const redis = new Redis(testEnvironment().redisUrl);
const secret = createSecretKey(randomBytes(32));
const settings = Object.fromEntries(Object.keys(limitConfig).map((name) => [name, 999])) as unknown as LimitSettings;
const quarterMs = 900_000;
const dayMs = 86_400_000;
let time: number;
let prefix: string;
let refusals: unknown[];
let insured: number;
beforeAll(() => redis.ping());
beforeEach(() => {
  [time, prefix, refusals, insured] = [Date.now(), uniqueName(), [], 0];
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
    onInsured() {
      insured += 1;
    },
  });

const email = 'Cook@example.com';
const from = (network: string, deviceSecret?: string): RequestOrigin => ({
  requestId: 'r',
  network,
  ...(deviceSecret && { deviceSecret }),
});
let lastNetwork = 0;
/** Returns a client at a network of its own; an unknown device has a secret that no account knows. */
const somewhere = (device = randomBytes(16).toString('base64url')) => {
  lastNetwork += 1;
  return from(`198.51.${lastNetwork >> 8}.${lastNetwork & 255}`, device);
};
const at = ({ network = '' }: RequestOrigin, device?: string) => from(network, device);

/** Takes a try of a factor that can be guessed. */
const take = (limits: Limits, origin: RequestOrigin, more: Partial<Parameters<Limits['secondFactor']>[0]> = {}) =>
  limits.secondFactor({ account: { email }, isGuess: true, ...more }, origin);

/** Tries a wrong factor. Returns the tries that are left, or undefined if there is no verdict. */
async function guess(...given: Parameters<typeof take>): Promise<number | undefined> {
  return take(...given).then(
    ({ triesLeft }) => triesLeft,
    (error: { readonly code: string }) => void expect(error.code).toBe('ERR-RATE-LIMITED'),
  );
}

async function guessTimes(limits: Limits, times: number, origin: RequestOrigin, more = {}) {
  const left: (number | undefined)[] = [];
  for (let i = 0; i < times; i += 1) left.push(await guess(limits, origin, more));
  return left;
}

/** Counts the verdicts of wrong factors, as many as there are in that number of quarters of an hour. */
async function verdictsIn(limits: Limits, quarters: number, next: () => RequestOrigin, more = {}): Promise<number> {
  let verdicts = 0;
  for (let i = 0; i < quarters; i += 1) {
    while ((await guess(limits, next(), more)) !== undefined) verdicts += 1;
    time += quarterMs;
  }
  return verdicts;
}
const [five, none] = [[4, 3, 2, 1, 0], Array<undefined>(5).fill(undefined)];

test('five of 200 simultaneous tries of a second factor at several apis from as many networks get a verdict', async () => {
  const apis = [newLimits(), newLimits(), newLimits()];
  const all = Array.from({ length: 200 }, (_, i) => guess(apis[i % 3] ?? newLimits(), somewhere()));
  const verdicts = (await Promise.all(all)).filter((left) => left !== undefined);
  expect(verdicts.toSorted()).toEqual([0, 1, 2, 3, 4]);
  expect(refusals).toEqual(Array(195).fill('second_factor'));
});

test('unknown clients share five tries of a second factor, and each known device and network has five of its own', async () => {
  const limits = newLimits();
  const home = somewhere('owner');
  await limits.completed(email, home);
  expect(await guessTimes(limits, 6, somewhere())).toEqual([...five, undefined]);
  expect(await guessTimes(limits, 6, somewhere('owner'))).toEqual([...five, undefined]);
  expect(await guessTimes(limits, 6, at(home))).toEqual([...five, undefined]);
  expect(await guess(limits, somewhere())).toBeUndefined();
});

test('a client that has used up its tries falls back to the next: device, network, unknown devices', async () => {
  const limits = newLimits();
  const home = somewhere('owner');
  await limits.completed(email, home);
  expect(await guessTimes(limits, 16, home)).toEqual([...five, ...five, ...five, undefined]);
});

// guarantees: no-tries-for-known-places
test.each(['registered', 'verified', 'proved'] as const)(
  'a device and network that were %s are not known to the second factor for that',
  async (step) => {
    const limits = newLimits();
    const home = somewhere('owner');
    await limits[step](email, home);
    await guessTimes(limits, 5, somewhere());
    expect(await guess(limits, home)).toBeUndefined();
  },
);

test('no device or network stays known to the second factor after a first proof', async () => {
  const limits = newLimits();
  const den = somewhere('thief');
  await limits.completed(email, den);
  await limits.registered(email, somewhere());
  await guessTimes(limits, 5, somewhere());
  expect(await guess(limits, den)).toBeUndefined();
});

test('no device or network stays known to the second factor after a new password, until its next login', async () => {
  const limits = newLimits();
  const den = somewhere('thief');
  await limits.completed(email, den);
  const more = { account: { email, password_changed_at: new Date(time) } };
  expect(await guessTimes(limits, 6, den, more)).toEqual([...five, undefined]);
  time += 1;
  await limits.completed(email, den);
  expect(await guess(limits, den, more)).toBe(4);
});

// guarantees: no-tries-for-known-places
test('no device or network is known to the second factor because a password was right there', async () => {
  const limits = newLimits();
  const home = somewhere('owner');
  await (await limits.logIn(email, home)).succeed();
  await guessTimes(limits, 5, somewhere());
  expect(await guess(limits, home)).toBeUndefined();
});

test('the device of a session has five tries of its own wherever it is, and a login there loses none', async () => {
  const limits = newLimits();
  const home = somewhere('owner');
  const session = { device_id: 'phone' };
  expect(await guessTimes(limits, 6, home, { session })).toEqual([...five, undefined]);
  expect(await guess(limits, somewhere(), { session })).toBeUndefined();
  await limits.completed(email, home);
  expect(await guess(limits, home)).toBe(4);
});

describe('the total of an account over all devices and networks', () => {
  const session = { device_id: 'phone' };
  /** Takes one try as the owner, with the right factor. */
  const enter = async (limits: Limits, origin: RequestOrigin, more = {}) =>
    (await take(limits, origin, more)).succeed();

  // guarantees: hundred-wrong-factors
  test('unknown devices get 70 verdicts for all time, and then each device that holds something ten', async () => {
    const limits = newLimits();
    await limits.completed(email, somewhere('owner'));
    expect(await verdictsIn(limits, 30, somewhere)).toBe(70);
    time += 30 * dayMs;
    expect(await guess(limits, somewhere())).toBeUndefined();
    expect(await verdictsIn(limits, 4, () => somewhere('owner'))).toBe(10);
  });

  test('a thief with a session, the device’s secret and its network gets 100 verdicts, whatever the order', async () => {
    const limits = newLimits();
    const home = somewhere('owner');
    await limits.completed(email, home);
    const rounds = [
      await verdictsIn(limits, 10, somewhere),
      await verdictsIn(limits, 10, () => home, { session }),
      await verdictsIn(limits, 10, () => home),
      await verdictsIn(limits, 10, somewhere, { session }),
    ];
    expect(rounds.reduce((sum, verdicts) => sum + verdicts)).toBe(100);
  });

  test('sessions that a passkey has opened get no verdicts of their own, on however many devices', async () => {
    const limits = newLimits();
    const minted = async (amr: string[]) => {
      let verdicts = 0;
      for (let i = 0; i < 20; i += 1) {
        const session = { device_id: `minted-${i}`, amr };
        verdicts += (await guessTimes(limits, 6, somewhere(), { session })).filter((left) => left !== undefined).length;
      }
      return verdicts;
    };
    expect(await minted(['swk', 'user', 'mfa'])).toBe(70);
    expect(await guess(limits, somewhere(), { session: { device_id: 'phone', amr: ['pwd', 'otp', 'mfa'] } })).toBe(4);
  });

  test('simultaneous tries of all paths get no more verdicts than the total allows', async () => {
    const limits = newLimits();
    let verdicts = 0;
    for (let i = 0; i < 20; i += 1) {
      const tries = Array.from({ length: 24 }, (_, k) =>
        guess(limits, somewhere(), k % 2 ? { session: { device_id: 'phone' } } : {}),
      );
      verdicts += (await Promise.all(tries)).filter((left) => left !== undefined).length;
      time += quarterMs;
    }
    expect(verdicts).toBe(80);
  });

  // guarantees: hundred-wrong-factors
  test('a right factor from a device that holds something ends the count, and one from an unknown device does not', async () => {
    const limits = newLimits();
    await limits.completed(email, somewhere('owner'));
    expect(await verdictsIn(limits, 13, somewhere)).toBe(65);
    await enter(limits, somewhere());
    expect(await verdictsIn(limits, 3, somewhere)).toBe(5);
    await enter(limits, somewhere('owner'));
    expect(await verdictsIn(limits, 1, somewhere)).toBe(5);
    await verdictsIn(limits, 15, somewhere);
    time += dayMs;
    await enter(limits, somewhere(), { session });
    expect(await guess(limits, somewhere())).toBe(4);
  });

  test('a right factor at a known network ends the count of that network only', async () => {
    const limits = newLimits();
    const home = at(somewhere());
    await limits.completed(email, home);
    await verdictsIn(limits, 16, somewhere);
    time += dayMs;
    expect(await guessTimes(limits, 5, home)).toEqual(five);
    time += quarterMs;
    await enter(limits, home);
    expect(await verdictsIn(limits, 4, () => home)).toBe(10);
    expect(await guess(limits, somewhere())).toBeUndefined();
  });

  test('a recovery ends the count once, also if an api still has the account as it was before', async () => {
    const limits = newLimits();
    const recovered = { account: { email, recovered_at: new Date(time) } };
    expect(await verdictsIn(limits, 16, somewhere)).toBe(70);
    time += dayMs;
    expect(await verdictsIn(limits, 1, somewhere, recovered)).toBe(5);
    expect(await verdictsIn(limits, 1, somewhere)).toBe(5);
    expect(await verdictsIn(limits, 16, somewhere, recovered)).toBe(60);
    time += dayMs;
    expect(await guess(limits, somewhere())).toBeUndefined();
    expect(await guess(limits, somewhere(), recovered)).toBeUndefined();
  });

  // guarantees: hundred-wrong-factors
  test('the count of an account goes on after a change of its email address, from its latest recovery on', async () => {
    const limits = newLimits();
    const recovered_at = new Date(time);
    const session = { sid: 's', device_id: 'd', amr: ['pwd', 'otp', 'mfa'] };
    expect(await verdictsIn(limits, 4, somewhere, { account: { email, recovered_at }, session })).toBe(10 + 10);
    expect(await verdictsIn(limits, 13, somewhere, { account: { email, recovered_at } })).toBe(60);
    time += dayMs;
    const to = 'chef@example.com';
    await limits.moved({ from: email, to }, session, somewhere());
    expect(await guess(limits, somewhere(), { account: { email: to, recovered_at } })).toBeUndefined();
    expect(await guess(limits, somewhere(), { account: { email: to, recovered_at }, session })).toBeUndefined();
    expect(await guess(limits, somewhere(), { account: { email: to, recovered_at: new Date(time) } })).toBe(4);
  });

  test('wrong passwords of a session go on after a change of the email address, and only the last of all is announced', async () => {
    const limits = newLimits();
    const session = { sid: 's', device_id: 'd', amr: ['pwd'] };
    const fail = async (address: string) => (await limits.guess(address, session, somewhere())).fail();
    for (let verdicts = 1; verdicts < 10 + 70; verdicts += 1) expect(await fail(email)).toEqual({ isLast: false });
    expect(await fail(email)).toEqual({ isLast: true });
    const to = 'chef@example.com';
    await limits.moved({ from: email, to }, session, somewhere());
    await expect(fail(to)).rejects.toMatchObject({ code: 'ERR-RATE-LIMITED' });
  });

  test('neither a factor that can’t be guessed nor an outage counts', async () => {
    const limits = newLimits();
    expect(await verdictsIn(limits, 20, somewhere, { isGuess: false })).toBe(100);
    time += dayMs;
    for (let i = 0; i < 20; i += 1) await (await take(limits, somewhere())).giveBack();
    expect(await verdictsIn(limits, 20, somewhere)).toBe(70);
  });

  test('the count of an account is kept for 180 days', async () => {
    const limits = newLimits();
    await guess(limits, somewhere());
    const names = createLimitKeys(prefix, () => secret);
    const account = names.tagOf('account', email.toLowerCase());
    const wrong = names.wrongOf('factor', account);
    expect(await redis.hgetall(wrong)).toEqual({ all: '1' });
    expect(await redis.pttl(wrong)).toBeGreaterThan(180 * dayMs - 60_000);
    await guess(limits, somewhere(), { account: { email, recovered_at: new Date(7) } });
    expect(await redis.hgetall(wrong)).toEqual({ all: '1', since: '7' });
  });
});

// guarantees: no-tries-for-known-places
test('unknown clients have at most 100 tries a day of a factor that can’t be guessed', async () => {
  const limits = newLimits();
  const more = { isGuess: false };
  for (let i = 0; i < 20; i += 1) {
    expect(await guessTimes(limits, 5, somewhere(), more)).toEqual(five);
    time += quarterMs;
  }
  const refusal: unknown = await take(limits, somewhere(), more).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ retryAfterSeconds: (dayMs - 20 * quarterMs) / 1_000 });
  time += dayMs - 20 * quarterMs;
  expect(await guess(limits, somewhere(), more)).toBe(4);
});

test('each account has its own tries of a second factor, whatever the case of its email address', async () => {
  const limits = newLimits();
  await guessTimes(limits, 5, somewhere());
  expect(await guess(limits, somewhere(), { account: { email: 'cook@EXAMPLE.com' } })).toBeUndefined();
  expect(await guess(limits, somewhere(), { account: { email: 'other@example.com' } })).toBe(4);
});

test('each try of a second factor counts for a quarter of an hour, and a refused try does not count', async () => {
  const limits = newLimits();
  const minuteMs = 60_000;
  for (const left of five) {
    expect(await guess(limits, somewhere())).toBe(left);
    time += minuteMs;
  }
  const refusal: unknown = await take(limits, somewhere()).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ retryAfterSeconds: 600 });
  time += quarterMs - 5 * minuteMs - 1;
  expect(await guess(limits, somewhere())).toBeUndefined();
  time += 1;
  expect(await guessTimes(limits, 2, somewhere())).toEqual([0, undefined]);
});

describe('an alarming try', () => {
  const alarmsOf = async (times: number, limits: Limits, next: () => RequestOrigin, more = {}) => {
    const alarms: boolean[] = [];
    for (let i = 0; i < times; i += 1) alarms.push((await take(limits, next(), more)).isAlarming);
    return alarms;
  };
  const calm = (times: number) => Array<boolean>(times).fill(false);

  test.each<[string, object]>([
    ['an unknown client', {}],
    ['a session', { session: { device_id: 'phone' } }],
  ])('a try of %s is alarming if it is the last one left, or the tenth in a day', async (_, more) => {
    const limits = newLimits();
    const given = { ...more, isGuess: false };
    expect(await alarmsOf(5, limits, somewhere, given)).toEqual([...calm(4), true]);
    time += quarterMs;
    expect(await alarmsOf(4, limits, somewhere, given)).toEqual(calm(4));
    time += quarterMs;
    expect(await alarmsOf(1, limits, somewhere, given)).toEqual([true]);
    time += dayMs;
    expect(await alarmsOf(5, limits, somewhere, given)).toEqual([...calm(4), true]);
  });

  test('the last try that the total of an account allows is alarming', async () => {
    const limits = newLimits();
    await verdictsIn(limits, 13, somewhere);
    time += dayMs;
    expect(await alarmsOf(3, limits, somewhere)).toEqual(calm(3));
    time += dayMs;
    expect(await alarmsOf(2, limits, somewhere)).toEqual([false, true]);
    await expect(take(limits, somewhere())).rejects.toMatchObject({ retryAfterSeconds: dayMs / 1_000 });
  });

  test('the last try is alarming while Redis is away', async () => {
    const away = new Redis({ ...failFastOptions(), lazyConnect: true });
    away.disconnect();
    expect(await alarmsOf(5, newLimits(away), somewhere)).toEqual([...calm(4), true]);
  });
});

test('an account knows its 20 latest devices and networks for the second factor, each for 180 days', async () => {
  const limits = newLimits();
  const devices = Array.from({ length: 11 }, (_, i) => `device-${i}`);
  for (const device of devices) {
    await limits.completed(email, somewhere(device));
    time += 1;
  }
  await guessTimes(limits, 5, somewhere());
  expect([await guess(limits, somewhere('device-0')), await guess(limits, somewhere('device-1'))]).toEqual([
    undefined,
    4,
  ]);
  const known = createLimitKeys(prefix, () => secret);
  const key = known.factorKnownOf(known.tagOf('account', 'cook@example.com'));
  expect(await redis.zcard(key)).toBe(20);
  expect(await redis.pttl(key)).toBeGreaterThan(180 * dayMs - 60_000);
  time += 180 * dayMs;
  await guessTimes(limits, 5, somewhere());
  expect(await guess(limits, somewhere('device-1'))).toBeUndefined();
});

test('a login on a device that holds nothing makes its network known, and no other such device', async () => {
  const limits = newLimits();
  const home = at(somewhere());
  await limits.completed(email, home);
  const keys = createLimitKeys(prefix, () => secret);
  expect(await redis.zcard(keys.factorKnownOf(keys.tagOf('account', 'cook@example.com')))).toBe(1);
  await guessTimes(limits, 5, somewhere());
  expect(await guess(limits, at(somewhere()))).toBeUndefined();
  expect(await guess(limits, home)).toBe(4);
});

test('a device is known by the key that its login has proven, whoever names its id', async () => {
  const limits = newLimits();
  await limits.completed(email, at(somewhere()), 'thumbprint');
  await guessTimes(limits, 5, somewhere());
  expect(await guess(limits, somewhere('thumbprint'))).toBeUndefined();
  expect(await guess(limits, at(somewhere()), { jkt: 'thumbprint' })).toBe(4);
});

test('a right second factor gives its try back', async () => {
  const limits = newLimits();
  await guessTimes(limits, 4, somewhere());
  for (let i = 0; i < 3; i += 1) {
    const taken = await take(limits, somewhere());
    expect(taken.triesLeft).toBe(0);
    await taken.succeed();
  }
  expect(await guessTimes(limits, 2, somewhere())).toEqual([0, undefined]);
});

test('the tries of a second factor are named by HMACs and forgotten after a day', async () => {
  await guess(newLimits(), somewhere(), { isGuess: false });
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

  test('each process allows five tries of a second factor for an account while Redis is away, and counts them', async () => {
    const limits = newLimits(away);
    const all = await Promise.all(Array.from({ length: 10 }, () => guess(limits, somewhere())));
    expect([all, insured]).toEqual([[...five, ...none], 10]);
    const refusal: unknown = await take(limits, somewhere()).catch((error: unknown) => error);
    const { retryAfterSeconds = 0 } = refusal as AppError;
    expect([retryAfterSeconds > 800, retryAfterSeconds <= 900]).toEqual([true, true]);
    expect(await guess(limits, somewhere(), { account: { email: 'other@example.com' } })).toBe(4);
  });

  test('a right second factor gives its try back while Redis is away, and nothing is thrown', async () => {
    const limits = newLimits(away);
    await guessTimes(limits, 4, somewhere());
    await (await take(limits, somewhere())).succeed();
    await limits.completed(email, somewhere());
    await limits.proved(email, somewhere());
    expect(await guessTimes(limits, 2, somewhere())).toEqual([0, undefined]);
  });
});
