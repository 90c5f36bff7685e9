import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newSession, password } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { beginLogin, codeAt, guardedAccount, wrongCodeFor } from '../../support/api/second-factor.ts';
import { type AuthctlOptions, auditLinesOf, authctl, authctlJson } from '../../support/processes/authctl.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

let fixture: OperatorFixture;
let options: AuthctlOptions;
beforeAll(async () => {
  fixture = await openOperatorFixture({
    CODE_LIMIT_PER_ACCOUNT: '2',
    LOGIN_ACCOUNT_FAILURES_PER_DAY: '3',
    LOGIN_ACCOUNT_FREE_FAILURES: '3',
    TRUST_PROXY_HOPS: '1',
  });
  options = fixture.options;
});
afterAll(() => fixture.close());

const show = (user: string) => authctlJson(['user', 'show', user], options);
const unlock = (user: string) => authctl(['user', 'unlock', user, '--reason', 'called us'], options);
/** A network of its own, which no account knows. */
const elsewhere = (host: number) => ({ 'X-Forwarded-For': `198.51.100.${host}` });
const login = (email: string, given: string, host: number) =>
  fixture.logIn({ email, password: given }, elsewhere(host));
const statusOf = async (answer: Promise<{ readonly status: number }>) => (await answer).status;

test('support sees that unknown devices have locked a login, until when, and can open it', async () => {
  const { email, user_id } = await newSession(fixture);
  for (let host = 0; host < 3; host += 1) expect(await statusOf(login(email, 'wrong password', host))).toBe(401);
  expect(await statusOf(login(email, password, 200))).toBe(429);
  const locked = await show(email);
  expect(locked).toMatchObject({ wrong_passwords: 3, wrong_passwords_today: 3, wrong_passwords_from_known: 0 });
  // After the third failure the next try has to wait for a second.
  expect(locked.login_elsewhere_from).toMatch(/^20\d\d-/);
  const refusals = fixture.lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'limit.exceeded');
  expect(refusals.at(-1)).toMatchObject({ reason: 'login_account_day', account: locked.limits_account });

  const { exitCode, stderr } = await unlock(user_id);
  expect(exitCode).toBe(0);
  expect(auditLinesOf(stderr)).toMatchObject([{ event: 'account.unlocked', user_id, operator_reason: 'called us' }]);
  expect(await show(email)).toMatchObject({ wrong_passwords: 0, wrong_passwords_today: 0, login_elsewhere_from: null });
  expect(await statusOf(login(email, password, 201))).toBe(200);
});

test('an unlocked account can show its second factor and ask for codes anew, and keeps its known devices and networks', async () => {
  const { email, secret, user_id } = await guardedAccount(fixture);
  const challenge_id = await beginLogin(fixture, email);
  const show2 = (code: string, host: number) =>
    fixture.confirmSecondFactor({ challenge_id, method: 'totp', code }, elsewhere(host));
  const ask = (host: number) => statusOf(fixture.requestLoginCode({ email }, elsewhere(host)));
  for (let host = 0; host < 5; host += 1) await show2(wrongCodeFor(secret), host);
  expect(await statusOf(show2(codeAt(secret, Date.now(), 1), 6))).toBe(429);
  expect([await ask(1), await ask(2), await ask(3)]).toEqual([202, 202, 429]);
  const locked = await show(email);
  expect(locked).toMatchObject({ wrong_factors: 5, wrong_factors_from_known: 0, known_places: expect.any(Number) });
  expect([locked.factor_tries_elsewhere.length, locked.codes_asked_elsewhere.length]).toEqual([5, 2]);

  expect((await unlock(user_id)).exitCode).toBe(0);
  const open = { wrong_factors: 0, factor_tries_elsewhere: [], codes_asked_elsewhere: [] };
  expect(await show(email)).toMatchObject({ ...open, known_places: locked.known_places });
  expect([await statusOf(show2(codeAt(secret, Date.now(), 1), 7)), await ask(8)]).toEqual([200, 202]);
});

test('an operator exports what the person would get, and the audit log says who did and why', async () => {
  const session = await newSession(fixture);
  const run = await authctl(
    ['user', 'export', session.email, '--reason', 'asked in a letter', '--as', 'Olga'],
    options,
  );
  const own = await fixture.exportAccount({ current_password: password }, bearer(session));
  const same = { ...own.json.data, timestamp: expect.any(String) };
  expect(JSON.parse(run.stdout)).toEqual(same);
  const shared = { event: 'account.exported', user_id: session.user_id, operator: 'Olga' };
  expect(auditLinesOf(run.stderr)).toMatchObject([{ ...shared, operator_reason: 'asked in a letter' }]);
});

test('an account is shown without the server’s keys or Redis, and says that its limits are unknown', async () => {
  const { email } = await newSession(fixture);
  const env = { ...options.env, SERVER_KEYS_FILE: undefined };
  const shown = await authctlJson(['user', 'show', email], { env });
  expect(shown.limits).toBe('unknown: SERVER_KEYS_FILE is not set. Set it as for the api.');
  const withoutRedis = { env: { ...options.env, REDIS_URL: undefined } };
  const { user_id, limits } = await authctlJson(['user', 'show', email], withoutRedis);
  expect([user_id, limits]).toEqual([shown.user_id, 'unknown: a variable of Redis is missing or wrong']);
});
