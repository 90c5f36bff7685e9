import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startConsoleOn, startTestConsole } from '../../support/console/console-fixture.ts';
import { recordLog } from '../../support/recorded-log.ts';

const clock = { ms: Date.now() };
const log = recordLog('console');
let console: Awaited<ReturnType<typeof startTestConsole>>;
beforeAll(async () => {
  console = await startTestConsole({}, { sessionNow: () => clock.ms, logger: log.logger });
});
afterAll(() => console.close());

const minute = 60_000;

test('a member of staff signs in by the provider and gets name, role, token and rights', async () => {
  const client = await console.signIn('support');
  const { status, json, headers } = await client.get('/api/me');
  expect([status, headers['cache-control'], headers.etag]).toEqual([200, 'no-store', undefined]);
  expect(json).toMatchObject({ name: 'A support', subject: 'support', role: 'support', four_eyes: [] });
  expect(json.token).toMatch(/^[\w-]{43}$/);
  expect(json.actions).toContain('session.end');
  expect(json.actions).not.toContain('account.disable');
});

test('a sign-in ends at the path where it began', async () => {
  const browser = console.openBrowser();
  console.staff.present.person = 'viewer';
  const end = await browser.follow(
    `${console.origin}/sign-in?to=${encodeURIComponent('/accounts/7?after=2#x')}`,
    (next) => next.startsWith(`${console.origin}/accounts`),
  );
  expect(end).toBe(`${console.origin}/accounts/7?after=2#x`);
});

test('the cookies of an https console are hidden from scripts, other sites and other hosts', async () => {
  const browser = console.openBrowser();
  const begun = await browser.load(`${console.origin}/sign-in`);
  expect(begun.headers['set-cookie']?.join()).toMatch(
    /^__Host-console_sign_in=.*Path=\/; .*HttpOnly; Secure; SameSite=Lax$/,
  );
  console.staff.present.person = 'viewer';
  const callback = await browser.follow(begun.headers.location ?? '', (next) => next.startsWith(console.origin));
  const { headers } = await browser.load(callback);
  const [, session] = headers['set-cookie'] ?? [];
  expect(session).toMatch(/^__Host-console_session=.*Max-Age=3[56]\d\d; Path=\/; .*HttpOnly; Secure; SameSite=Strict$/);
});

test('the highest role of a list counts, and a role as one text too', async () => {
  console.staff.people.set('both', { roles: ['staff', 'on-call', 'canteen'] }).set('text', { roles: 'helpdesk' });
  const [both, text] = [await console.signInAs('both'), await console.signInAs('text')];
  expect((await both.get('/api/me')).json).toMatchObject({ role: 'operator', name: 'both' });
  expect((await text.get('/api/me')).json.role).toBe('support');
});

test('another role at the provider counts in the session after the recheck, and not before', async () => {
  console.staff.people.set('mover', { roles: ['on-call'] });
  const client = await console.signInAs('mover');
  console.staff.people.set('mover', { roles: ['staff'] });
  clock.ms += minute - 1;
  expect((await client.get('/api/me')).json.role).toBe('operator');
  clock.ms += 1;
  log.takeEvents();
  const answers = await Promise.all(Array.from({ length: 5 }, () => client.get('/api/me')));
  expect(answers.map(({ json }) => json.role)).toEqual(Array.from({ length: 5 }, () => 'viewer'));
  expect((await client.get('/api/me')).json.role).toBe('viewer');
  expect(log.takeEvents()).toMatchObject([{ event: 'console.role_changed', staff: 'mover', staff_role: 'viewer' }]);
});

test('a session has its end from the beginning, and rechecks do not prolong it', async () => {
  const client = await console.signIn('viewer');
  const { session_ends_at } = (await client.get('/api/me')).json;
  const end = Date.parse(session_ends_at);
  expect(end - clock.ms).toBeLessThanOrEqual(60 * minute);
  for (clock.ms += minute; clock.ms < end - 5 * minute; clock.ms += 10 * minute) {
    expect((await client.get('/api/me')).json.session_ends_at).toBe(session_ends_at);
  }
  clock.ms = end;
  expect((await client.get('/api/me')).status).toBe(401);
});

test('a sign-out ends the session at once, and names the page of the provider for the rest', async () => {
  log.takeEvents();
  const client = await console.signIn('viewer');
  const { status, json, headers } = await client.post('/sign-out');
  expect(status).toBe(200);
  expect(json.end_session_url).toContain(`${console.staff.issuer}/session/end?id_token_hint=`);
  expect(headers['set-cookie']?.join()).toMatch(/^__Host-console_session=; Path=\/; Expires=Thu, 01 Jan 1970/);
  const after = await client.get('/api/me');
  expect([after.status, after.json.error.code]).toEqual([401, 'signed_out']);
  const who = { staff: 'viewer', staff_name: 'A viewer' };
  expect(log.takeEvents()).toMatchObject([
    { event: 'console.signed_in', outcome: 'success', ...who, staff_role: 'viewer', request_id: expect.any(String) },
    { event: 'console.signed_out', outcome: 'success', reason: 'asked', ...who },
  ]);
});

test('a person without a role gets no entry and a page that says so, in the log by its subject', async () => {
  log.takeEvents();
  console.staff.people.set('guest', { roles: ['canteen'] });
  console.staff.present.person = 'guest';
  const browser = console.openBrowser();
  const callback = await browser.follow(`${console.origin}/sign-in`, (next) => next.startsWith(console.origin));
  const { status, text } = await browser.load(callback);
  expect([status, text.includes('You have no role'), text.includes('У вас нет роли')]).toEqual([403, true, true]);
  expect(browser.cookieOf(console.origin)).toBe('');
  const facts = { event: 'console.sign_in_refused', outcome: 'failure', reason: 'no_role', staff: 'guest' };
  expect(log.takeEvents()).toMatchObject([facts]);
  expect(await console.metric('auth_console_sign_ins_total', { outcome: 'no_role' })).toBe(1);
});

test('a console whose provider is away is ready, says so to who signs in, and keeps sessions for later', async () => {
  const other = await startConsoleOn(console.fixture, {}, { sessionNow: () => clock.ms });
  const client = await other.signIn('viewer');
  const late = await startConsoleOn(console.fixture);
  await Promise.all([other.staff.close(), late.staff.close()]);
  expect(await late.unreadiness()).toEqual([]);
  expect((await late.openBrowser().load(`${late.origin}/sign-in`)).status).toBe(503);
  clock.ms += minute;
  const { status, json } = await client.get('/api/me');
  expect([status, json.error.code]).toEqual([503, 'unavailable']);
});

test('a person can sign out while the provider is away', async () => {
  const other = await startConsoleOn(console.fixture, {}, { sessionNow: () => clock.ms });
  const client = await other.signIn('viewer');
  await other.staff.close();
  clock.ms += minute;
  expect((await client.post('/sign-out')).status).toBe(200);
  expect((await client.get('/api/me')).status).toBe(401);
});
