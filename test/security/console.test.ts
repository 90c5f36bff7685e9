import { gzipSync } from 'node:zlib';
import { reasonHeader, tokenHeader } from '@auth-account/console/contract';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { generateKeyPair } from 'jose';
import { createSeals } from '../../services/console/src/sign-in/seals.ts';
import { roleValues, type StaffClient, startConsoleOn, startTestConsole } from '../support/console/console-fixture.ts';
import { sendLogout, signLogoutToken } from '../support/console/logout-token.ts';
import { probeRoutes } from '../support/console/probe-routes.ts';
import { send } from '../support/http-client.ts';
import { recordLog } from '../support/recorded-log.ts';

const clock = { ms: Date.now() };
const minute = 60_000;
const log = recordLog('console');
let console: Awaited<ReturnType<typeof startTestConsole>>;
beforeAll(async () => {
  console = await startTestConsole({}, { routes: probeRoutes, sessionNow: () => clock.ms, logger: log.logger });
});
afterAll(() => console.close());

const statusOf = async (client: StaffClient) => (await client.get('/api/me')).status;
const sealsOf = (secrets: string, origin = 'https://console.test') =>
  createSeals({ secrets: [secrets], origin, now: () => clock.ms });
const secretOf = () => console.env.CONSOLE_SECRETS ?? '';
const sessionName = '__Host-console_session';

/** Begins a sign-in in a browser, and returns the callback to which the provider leads it. */
async function begin(browser: ReturnType<typeof console.openBrowser>, person: string): Promise<string> {
  console.staff.present.person = person;
  return browser.follow(`${console.origin}/sign-in`, (next) => next.startsWith(console.origin));
}

describe('cookies', () => {
  const openSession = async () => {
    const { cookie } = await console.signIn('operator');
    const facts = await sealsOf(secretOf()).open('session', cookie.slice(sessionName.length + 1));
    const until = Number(facts?.until);
    return { cookie, facts: facts ?? {}, until };
  };

  test('a session cookie that is altered in any part opens nothing', async () => {
    const { cookie } = await openSession();
    expect(await statusOf(await console.clientWith(cookie))).toBe(200);
    const [header = '', key = '', iv = '', text = '', tag = ''] = cookie.slice(sessionName.length + 1).split('.');
    const flip = (part: string) => (part.startsWith('A') ? 'B' : 'A') + part.slice(1);
    const altered = [
      [flip(header), key, iv, text, tag],
      [header, 'AAAA', iv, text, tag],
      [header, key, flip(iv), text, tag],
      [header, key, iv, flip(text), tag],
      [header, key, iv, text, flip(tag)],
      [header, key, iv, text, ''],
      [header, key, iv, text],
    ];
    for (const parts of altered) {
      expect(await statusOf(await console.clientWith(`${sessionName}=${parts.join('.')}`))).toBe(401);
    }
  });

  test('a session cookie sealed by another secret, for another console or for another purpose opens nothing', async () => {
    const { facts, until } = await openSession();
    const sealed = await Promise.all([
      sealsOf(secretOf()).seal('session', facts, until),
      sealsOf('another secret of more than 32 characters').seal('session', facts, until),
      sealsOf(secretOf(), 'https://other.test').seal('session', facts, until),
      sealsOf(secretOf()).seal('sign-in', facts, until),
      sealsOf(secretOf()).seal('record', facts, until),
      // Its time is over, although its session lives.
      sealsOf(secretOf()).seal('session', facts, Math.floor(clock.ms / 1_000)),
      // Its session never was.
      sealsOf(secretOf()).seal('session', { ...facts, id: 'c1a9b1f0-0000-4000-8000-000000000000' }, until),
    ]);
    const clients = await Promise.all(sealed.map((text) => console.clientWith(`${sessionName}=${text}`)));
    expect(await Promise.all(clients.map(statusOf))).toEqual([200, 401, 401, 401, 401, 401, 401]);
  });

  test.each(['', 'x', '....', 'eyJhbGciOiJub25lIn0.e30.', 'a'.repeat(40)])(
    'a session cookie that is %j is no session and no fault',
    async (text) => {
      expect(await statusOf(await console.clientWith(`${sessionName}=${text}`))).toBe(401);
    },
  );

  test('an https console takes no cookie without the prefix that keeps other hosts from setting it', async () => {
    const { cookie } = await openSession();
    expect(await statusOf(await console.clientWith(cookie.replace('__Host-', '')))).toBe(401);
  });

  test('a session is opened by an older secret, and sealed by the first one', async () => {
    const { cookie, facts } = await openSession();
    const env = { CONSOLE_SECRETS: `a new secret of more than 32 characters,${secretOf()}` };
    const next = await startConsoleOn(console.fixture, env, { sessionNow: () => clock.ms });
    expect(await statusOf(await next.clientWith(cookie))).toBe(200);
    const later = (await next.signIn('viewer')).cookie.slice(sessionName.length + 1);
    expect([facts.subject, await sealsOf(secretOf()).open('session', later)]).toEqual(['operator', undefined]);
  });
});

describe('requests of other pages', () => {
  const own = { origin: 'https://console.test', 'sec-fetch-site': 'same-origin' };

  test.each<[string, Record<string, string>]>([
    ['another origin', { ...own, origin: 'https://evil.test' }],
    ['the origin null', { ...own, origin: 'null' }],
    ['no origin', { 'sec-fetch-site': 'same-origin' }],
    ['an origin with another scheme', { ...own, origin: 'http://console.test' }],
    ['an origin with another port', { ...own, origin: 'https://console.test:8443' }],
    ['an origin that begins like its own', { ...own, origin: 'https://console.test.evil.test' }],
    ['another site by Sec-Fetch-Site', { ...own, 'sec-fetch-site': 'cross-site' }],
    ['another host of the site by Sec-Fetch-Site', { ...own, 'sec-fetch-site': 'same-site' }],
    ['no page by Sec-Fetch-Site', { ...own, 'sec-fetch-site': 'none' }],
    ['no token', { ...own, [tokenHeader]: '' }],
    ['another token', { ...own, [tokenHeader]: 'A'.repeat(43) }],
  ])('a change with %s is refused, and the session lives on', async (_, headers) => {
    const { cookie, token } = await console.signIn('viewer');
    log.takeEvents();
    const { status, json } = await send(console.base, {
      path: '/sign-out',
      headers: { cookie, [tokenHeader]: token, ...headers },
    });
    expect([status, json.error.code]).toEqual([403, 'wrong_origin']);
    expect(log.takeEvents()).toMatchObject([{ event: 'console.refused', reason: 'wrong_origin', staff: 'viewer' }]);
    expect(await statusOf(await console.clientWith(cookie))).toBe(200);
  });

  test('the token of one session does not serve another one of the same person', async () => {
    const [one, other] = [await console.signIn('viewer'), await console.signIn('viewer')];
    expect(one.token).not.toBe(other.token);
    const { status } = await one.post('/sign-out', undefined, undefined, { [tokenHeader]: other.token });
    expect(status).toBe(403);
  });

  test('a page of another site reads nothing, even if a browser sent the cookie', async () => {
    const { cookie } = await console.signIn('viewer');
    const read = (site: string) =>
      send(console.base, { method: 'GET', path: '/api/me', headers: { cookie, 'sec-fetch-site': site } });
    const answers = await Promise.all(['same-origin', 'none', 'same-site', 'cross-site'].map(read));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 403, 403]);
  });
});

describe('sign-ins', () => {
  test('a callback in a browser that began no sign-in opens no session', async () => {
    const callback = await begin(console.openBrowser(), 'operator');
    const victim = console.openBrowser();
    expect((await victim.load(callback)).status).toBe(400);
    expect(victim.cookieOf(console.origin)).toBe('');
  });

  test("an attacker's callback does not sign a victim in who has begun an own sign-in", async () => {
    const callback = await begin(console.openBrowser(), 'operator');
    const victim = console.openBrowser();
    await victim.load(`${console.origin}/sign-in`);
    expect((await victim.load(callback)).status).toBe(403);
    expect(victim.cookieOf(console.origin)).toBe('');
  });

  test('a code counts once, and its second use ends what the first one opened', async () => {
    const browser = console.openBrowser();
    const callback = await begin(browser, 'operator');
    const begun = new Map(browser.jarOf(console.origin));
    await browser.load(callback);
    const client = await console.clientWith(browser.cookieOf(console.origin));
    expect(await statusOf(client)).toBe(200);
    const thief = console.openBrowser();
    for (const [name, value] of begun) thief.jarOf(console.origin).set(name, value);
    expect((await thief.load(callback)).status).toBe(403);
    expect(thief.cookieOf(console.origin)).toBe('');
    clock.ms += minute;
    expect(await statusOf(client)).toBe(401);
  });

  test.each(['nonce', 'verifier', 'state'] as const)('a sign-in with another %s is refused', async (part) => {
    const browser = console.openBrowser();
    const callback = await begin(browser, 'operator');
    const jar = browser.jarOf(console.origin);
    const seals = sealsOf(secretOf());
    const facts = await seals.open('sign-in', jar.get('__Host-console_sign_in') ?? '');
    const until = Math.floor(clock.ms / 1_000) + 60;
    jar.set('__Host-console_sign_in', await seals.seal('sign-in', { ...facts, [part]: 'x'.repeat(43) }, until));
    expect((await browser.load(callback)).status).toBe(403);
    expect(browser.cookieOf(console.origin)).toBe('');
  });

  test('a callback that names another provider is refused', async () => {
    const browser = console.openBrowser();
    const callback = new URL(await begin(browser, 'operator'));
    callback.searchParams.set('iss', 'https://evil.test');
    expect((await browser.load(callback.href)).status).toBe(403);
    expect(browser.cookieOf(console.origin)).toBe('');
  });

  test('a code for another client of the provider opens no session', async () => {
    const browser = console.openBrowser();
    const { headers } = await browser.load(`${console.origin}/sign-in`);
    const asked = new URL(headers.location ?? '');
    asked.searchParams.set('client_id', 'other');
    console.staff.present.person = 'operator';
    const callback = await browser.follow(asked.href, (next) => next.startsWith(console.origin));
    expect(callback).toContain('code=');
    expect((await browser.load(callback)).status).toBe(403);
    expect(browser.cookieOf(console.origin)).toBe('');
  });

  test('a sign-in is too old after ten minutes', async () => {
    const browser = console.openBrowser();
    const callback = await begin(browser, 'operator');
    clock.ms += 10 * minute;
    expect((await browser.load(callback)).status).toBe(400);
  });

  test.each([
    '//evil.test',
    '/\\evil.test',
    '\\\\evil.test',
    'https://evil.test/',
    'https:evil.test',
    '/.//evil.test',
    '/a/..//evil.test',
    '/%0a/evil.test\n',
    '/\t/evil.test',
    'javascript:alert(1)',
    '/sign-in?to=/system',
    '/api/me',
    '',
  ])('a sign-in with the path %j ends at the first page', async (path) => {
    const browser = console.openBrowser();
    console.staff.present.person = 'viewer';
    const begun = `${console.origin}/sign-in?to=${encodeURIComponent(path)}`;
    const callback = await browser.follow(begun, (next) => next.startsWith(`${console.origin}/sign-in/callback`));
    expect((await browser.load(callback)).headers.location).toBe(`${console.origin}/`);
  });

  test.each([
    ['nothing', {}],
    ['an empty list', { roles: [] }],
    ['null', { roles: null }],
    ['an object', { roles: { 'on-call': true } }],
    ['a list in a list', { roles: [['on-call']] }],
    ['another case', { roles: ['On-Call'] }],
    ['the name of the role itself', { roles: ['operator'] }],
    ['a text that contains it', { roles: 'not on-call' }],
  ])('a person whose claim is %s gets no entry', async (_, claims) => {
    console.staff.people.set('nobody', claims);
    const browser = console.openBrowser();
    expect((await browser.load(await begin(browser, 'nobody'))).status).toBe(403);
    expect(browser.cookieOf(console.origin)).toBe('');
  });

  test('a person whose role is withdrawn loses the session at the recheck', async () => {
    console.staff.people.set('leaver', { roles: roleValues.operator });
    const client = await console.signInAs('leaver');
    console.staff.people.set('leaver', { roles: ['canteen'] });
    log.takeEvents();
    clock.ms += minute;
    expect([await statusOf(client), await statusOf(client)]).toEqual([401, 401]);
    expect(log.takeEvents()).toMatchObject([{ event: 'console.signed_out', reason: 'no_role', staff: 'leaver' }]);
    console.staff.people.set('leaver', { roles: roleValues.operator });
    expect(await statusOf(client)).toBe(401);
  });

  test('a person whom the provider no longer knows loses the session at the recheck', async () => {
    console.staff.people.set('dismissed', { roles: roleValues.operator });
    const client = await console.signInAs('dismissed');
    console.staff.people.delete('dismissed');
    clock.ms += minute;
    expect(await statusOf(client)).toBe(401);
  });
});

test('sign-ins of one network are limited, and Redis tells neither networks nor staff nor tokens', async () => {
  const own = await startTestConsole();
  const redis = new Redis(own.fixture.env.REDIS_URL ?? '');
  try {
    const client = await own.signIn('support');
    const names = await redis.keys(`{${own.fixture.keyPrefix}}:*`);
    const [record = '', limit = ''] = [':console:session:', ':limit:console:'].map(
      (part) => names.find((name) => name.includes(part)) ?? '',
    );
    const stored = [...names, await redis.get(record)].join();
    expect(stored).not.toMatch(/127\.0\.0|support|accessToken/);
    await redis.set(limit, 600, 'KEEPTTL');
    const { status, headers, text } = await own.openBrowser().load(`${own.origin}/sign-in`);
    expect([status, Number(headers['retry-after']) > 3_000]).toEqual([429, true]);
    expect(text).toContain('Too many sign-ins from your network.');
    expect((await client.get('/api/me')).status).toBe(200);
  } finally {
    redis.disconnect();
    await own.close();
  }
});

describe('the end of a session at the provider', () => {
  test('a person who signs out at the provider loses this session here and no other', async () => {
    const [browser, other] = [console.openBrowser(), console.openBrowser()];
    const client = await console.signInAs('support', browser);
    const elsewhere = await console.signInAs('support', other);
    const { staff } = console;
    const asked = await browser.load(`${staff.issuer}/session/end?client_id=console`);
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(asked.text) ?? [];
    await browser.submit(`${staff.issuer}/session/end/confirm`, { xsrf, logout: 'yes' });
    expect([await statusOf(client), await statusOf(elsewhere)]).toEqual([401, 200]);
  });

  test('a logout token with the subject ends all sessions of the person, once', async () => {
    const [one, two, other] = [
      await console.signIn('support'),
      await console.signIn('support'),
      await console.signIn('viewer'),
    ];
    const token = await signLogoutToken(console.staff, { sub: 'support' });
    expect(await sendLogout(console.base, token)).toBe(200);
    expect([await statusOf(one), await statusOf(two), await statusOf(other)]).toEqual([401, 401, 200]);
    const later = await console.signIn('support');
    expect(await sendLogout(console.base, token)).toBe(400);
    expect(await statusOf(later)).toBe(200);
  });

  const at = () => Math.floor(Date.now() / 1_000);
  test.each<[string, () => Record<string, unknown>]>([
    ['for another client', () => ({ aud: 'other' })],
    ['of another issuer', () => ({ iss: 'https://evil.test' })],
    ['with a nonce', () => ({ nonce: 'x' })],
    ['without its event', () => ({ events: {} })],
    ['with an event as text', () => ({ events: 'http://schemas.openid.net/event/backchannel-logout' })],
    ['without events, as an id token', () => ({ events: undefined })],
    ['that names nobody', () => ({ sub: undefined })],
    ['of an hour ago', () => ({ iat: at() - 3_600, exp: at() + 60 })],
    ['that has expired', () => ({ exp: at() - 60 })],
    ['from the future', () => ({ iat: at() + 3_600, exp: at() + 7_200 })],
    ['without a time', () => ({ iat: undefined })],
    ['without an id', () => ({ jti: undefined })],
  ])('a logout token %s ends nothing', async (_, change) => {
    const client = await console.signIn('support');
    const token = await signLogoutToken(console.staff, { sub: 'support', ...change() });
    expect(await sendLogout(console.base, token)).toBe(400);
    expect(await statusOf(client)).toBe(200);
  });

  test('a logout token that the provider did not sign ends nothing', async () => {
    const client = await console.signIn('support');
    const { privateKey } = await generateKeyPair('RS256');
    const jwks = await send(console.staff.issuer, { method: 'GET', path: '/jwks' });
    const secret = Buffer.from(JSON.stringify(JSON.parse(jwks.text).keys[0]));
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const [, claims] = (await signLogoutToken(console.staff, { sub: 'support' })).split('.');
    const tokens = [
      await signLogoutToken(console.staff, { sub: 'support' }, { key: privateKey }),
      await signLogoutToken(console.staff, { sub: 'support' }, { key: secret, alg: 'HS256' }),
      `${encode({ alg: 'none', typ: 'logout+jwt' })}.${claims}.`,
      '',
      'x',
      'a'.repeat(8_000),
    ];
    for (const token of tokens) expect(await sendLogout(console.base, token)).toBe(400);
    expect(await statusOf(client)).toBe(200);
  });
});

describe('looks at personal data', () => {
  test('a person who reads many accounts is limited in all sessions together, audited and counted', async () => {
    const options = { routes: probeRoutes, logger: log.logger };
    const own = await startConsoleOn(console.fixture, { CONSOLE_LOOKUPS_PER_HOUR: '3', KEY_PREFIX: 'limits' }, options);
    const [one, two, other] = [await own.signIn('support'), await own.signIn('support'), await own.signIn('operator')];
    log.takeEvents();
    const statuses: number[] = [];
    for (const [index, client] of [one, two, one, two, one].entries()) {
      const { status, headers } = await client.get(`/api/probes/${index}`, 'curious');
      statuses.push(status);
      if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(3_000);
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect((await other.get('/api/probes/7', 'ticket 7')).status).toBe(200);
    expect(log.takeEvents().map(({ event, staff, reason }) => [event, staff, reason])).toEqual([
      ...Array.from({ length: 3 }, () => ['console.looked_up', 'support', 'curious']),
      ...Array.from({ length: 2 }, () => ['console.limited', 'support', 'limited']),
      ['console.looked_up', 'operator', 'ticket 7'],
    ]);
    expect(await own.metric('auth_console_lookups_total')).toBe(4);
    expect(await own.metric('auth_console_limited_total', { limit: 'lookups' })).toBe(2);
  });

  test('changes have a limit of their own', async () => {
    const env = { CONSOLE_ACTIONS_PER_HOUR: '1', KEY_PREFIX: 'actions' };
    const own = await startConsoleOn(console.fixture, env, { routes: probeRoutes });
    const client = await own.signIn('operator');
    const change = async () => (await client.post('/api/probes', { text: 'x' }, 'ticket 7')).status;
    expect([await change(), await change()]).toEqual([200, 429]);
    expect((await client.get('/api/probes/7', 'ticket 7')).status).toBe(200);
  });

  test.each([
    ['none', undefined],
    ['an empty one', ''],
    ['one of spaces', '%20%20'],
    ['one with an email address', encodeURIComponent('asked by cook@example.com')],
    ['one of two lines', 'ticket%0A{"audit":true}'],
    ['one with a carriage return', 'ticket%0Dx'],
    ['one with a null byte', 'ticket%00'],
    ['one with an escape of a terminal', 'ticket%1B%5B2J'],
    ['one with a line separator', 'ticket%E2%80%A8x'],
    ['one that is wrongly encoded', 'ticket%E0%A4%A'],
    ['one that is too long', 'x'.repeat(257)],
  ])('a look with %s as its reason is refused and not counted', async (_, reason) => {
    const { cookie } = await console.signIn('support');
    log.takeEvents();
    const headers = { cookie, ...(reason !== undefined && { [reasonHeader]: reason }) };
    const { status, json } = await send(console.base, { method: 'GET', path: '/api/probes/7', headers });
    expect([status, json.error.code, log.takeEvents()]).toEqual([400, 'reason_missing', []]);
  });

  test('a query with a member twice is refused', async () => {
    const client = await console.signIn('support');
    expect((await client.get('/api/probes/7?after=1&after=2', 'ticket 7')).json.error.code).toBe('invalid');
  });
});

describe('bodies', () => {
  const json = { 'content-type': 'application/json' };

  test.each<[string, number, string | Uint8Array, Record<string, string>]>([
    ['no JSON', 400, '{"text":', json],
    ['JSON of another type', 400, '"text"', json],
    ['a member too many', 400, '{"text":"x","role":"operator"}', json],
    ['a member of another type', 400, '{"text":7}', json],
    ['nothing', 400, '', {}],
    ['a form', 400, 'text=x', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['text that is JSON', 400, '{"text":"x"}', { 'content-type': 'text/plain' }],
    ['more than 16 KB', 413, `{"text":"${'x'.repeat(17_000)}"}`, json],
    [
      'a little that unpacks to much',
      413,
      gzipSync(`{"text":"${'x'.repeat(1_000_000)}"}`),
      { ...json, 'content-encoding': 'gzip' },
    ],
    ['an unknown encoding', 415, '{"text":"x"}', { ...json, 'content-encoding': 'zstd2' }],
    ['an unknown charset', 415, '{"text":"x"}', { 'content-type': 'application/json; charset=x-evil' }],
  ])('a body that is %s is answered with %d', async (_, expected, body, headers) => {
    const client = await console.signIn('operator');
    const { status, json: answer } = await client.post('/api/probes', body, 'ticket 7', headers);
    expect([status, answer.error.code]).toEqual([expected, 'invalid']);
  });

  test('a prototype in a body changes nothing', async () => {
    const client = await console.signIn('operator');
    const { status } = await client.post(
      '/api/probes',
      '{"text":"x","__proto__":{"role":"operator"}}',
      'ticket 7',
      json,
    );
    expect([status, ({} as { role?: string }).role]).toEqual([400, undefined]);
  });
});

test('a fault of the console shows nothing of itself, and is in its log', async () => {
  const lines = recordLog('console');
  const broken = () => [
    {
      ...({ method: 'GET', path: '/api/broken', role: 'viewer', kind: 'plain' } as const),
      answer: () => Promise.reject(new Error('mongodb://secret@host')),
    },
  ];
  const own = await startConsoleOn(console.fixture, {}, { routes: broken, logger: lines.logger });
  const { status, text } = await (await own.signIn('viewer')).get('/api/broken');
  expect([status, text.includes('secret'), JSON.parse(text).error.code]).toEqual([500, false, 'internal']);
  expect(lines.lines.filter(({ msg }) => msg === 'request failed')).toHaveLength(1);
});

test('every route answers every role as its table says, and nobody who is not signed in', async () => {
  const ranks = ['viewer', 'support', 'operator'] as const;
  const clients = [await console.clientWith('')];
  for (const role of ranks) clients.push(await console.signIn(role));
  const found: unknown[] = [];
  const expected: unknown[] = [];
  for (const { method, path, role } of console.routes) {
    // Without a reason, a body and a token, what is allowed changes nothing.
    const url = path.replaceAll(/:\w+/g, 'none');
    const codes = clients.map(async (client) => {
      const { cookie } = client;
      const { json } = await send(console.base, { method, path: url, headers: { cookie } });
      return json?.error?.code;
    });
    const [out, ...inside] = await Promise.all(codes);
    found.push([path, out, ...inside.map((code) => code !== 'forbidden')]);
    expected.push([path, 'signed_out', ...ranks.map((each) => ranks.indexOf(each) >= ranks.indexOf(role))]);
  }
  expect(console.routes.length).toBeGreaterThan(3);
  expect(found).toEqual(expected);
});
