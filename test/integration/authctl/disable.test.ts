import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, newSession, password } from '../../support/api/accounts.ts';
import { type AuthctlOptions, auditLinesOf, authctl, authctlJson } from '../../support/processes/authctl.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

let fixture: OperatorFixture;
let options: AuthctlOptions;
beforeAll(async () => {
  fixture = await openOperatorFixture();
  options = fixture.options;
});
afterAll(() => fixture.close());

const why = ['--reason', 'spam'];
const disable = (user: string, ...more: string[]) => authctl(['user', 'disable', user, ...why, ...more], options);
const enable = (user: string, ...more: string[]) => authctl(['user', 'enable', user, ...why, ...more], options);
const show = (user: string) => authctlJson(['user', 'show', user], options);
const login = (email: string, given = password) => fixture.logIn({ email, password: given });
const live = (user_id: string) => fixture.collections.sessions.countDocuments({ user_id, is_revoked: false });

/**
 * The commands that end all sessions: what the sessions end by, what is audited, and the answer to a login afterwards.
 */
const endings = [
  ['disable', 'account_disabled', 'account.disabled', 403, 'ERR-ACCOUNT-DISABLED'],
  ['delete', 'account_deleted', 'account.deletion_scheduled', 403, 'ERR-ACCOUNT-DELETION-SCHEDULED'],
  ['reset-password', 'password_changed', 'account.password_voided', 401, 'ERR-INVALID-CREDENTIALS'],
] as const;

describe.each(endings)('user %s', (name, reason, event, status, errorCode) => {
  const run = (user: string, given = options, ...more: string[]) =>
    authctl(['user', name, user, ...why, ...more, ...(name === 'disable' ? [] : ['--yes'])], given);

  test('a command that ends all sessions of an account closes its streams and lets nobody log in', async () => {
    const phone = await newSession(fixture);
    await logIn(fixture, phone.email);
    const stream = await fixture.openStream(phone);
    const done = await run(phone.email.toUpperCase());
    expect(done).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Sessions ended: 2.') });
    expect(await stream.closed).toMatchObject({ code: 4001, reason: 'SESSION_REVOKED' });
    expect(await live(phone.user_id)).toBe(0);
    const { json } = await fixture.refreshTokens({ refresh_token: phone.refresh_token });
    expect(json.details.reason).toBe(reason);
    const right = await login(phone.email);
    expect([right.status, right.json.error_code]).toEqual([status, errorCode]);
    expect((await login(phone.email, 'wrong password')).status).toBe(401);
  });

  test('a command that ends all sessions is in the audit log with the name of the operator, without the email', async () => {
    const { email, user_id, session_id } = await newSession(fixture);
    const { stderr } = await run(email, options, '--as', 'Ольга');
    const shared = {
      ...{ level: 'info', service: 'authctl', audit: true, outcome: 'success', user_id, operator: 'Ольга' },
      request_id: expect.stringMatching(/^authctl-/),
    };
    expect(auditLinesOf(stderr)).toMatchObject([
      { ...shared, event, operator_reason: 'spam' },
      { ...shared, event: 'session.revoked', session_id, reason },
    ]);
    expect(stderr).not.toContain('@');
    const session = await fixture.collections.sessions.findOne({ _id: session_id });
    expect(session?.revoked_request_id).toBe(auditLinesOf(stderr)[0]?.request_id);
  });

  // guarantees: operator-ends-sessions
  test('a command that ends all sessions lets no concurrent login slip past', async () => {
    const phone = await newSession(fixture);
    const logins = Array.from({ length: 8 }, () => login(phone.email));
    const [done] = await Promise.all([run(phone.user_id), ...logins]);
    expect(done.exitCode).toBe(0);
    expect(await live(phone.user_id)).toBe(0);
  });

  // guarantees: operator-ends-sessions
  test('a command that ends all sessions holds without Redis: the worker does the rest', async () => {
    const phone = await newSession(fixture);
    const stream = await fixture.openStream(phone);
    const done = await run(phone.user_id, { env: { ...options.env, REDIS_URL: 'redis://127.0.0.1:1' } });
    expect(done).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('the worker closes them') });
    expect(await live(phone.user_id)).toBe(0);
    expect(await stream.closed).toMatchObject({ code: 4001 });
  });
});

describe.each(['delete', 'reset-password'])('user %s without --yes', (name) => {
  const ask = (user: string, answer?: AuthctlOptions['answer']) =>
    authctl(['user', name, user, ...why], answer === undefined ? options : { ...options, answer });

  test('a command that ends all sessions asks first: no is no, yes is yes, and if nobody can be asked it needs --yes', async () => {
    const { user_id } = await newSession(fixture);
    expect(await ask(user_id)).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining('give --yes'),
    });
    expect(await ask(user_id, 'n')).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('[y/N]'),
    });
    expect(await live(user_id)).toBe(1);
    expect(await ask(user_id, 'y')).toMatchObject({ exitCode: 0 });
    expect(await live(user_id)).toBe(0);
  });

  test('a command that ends all sessions does nothing to an account that changes while the operator is asked', async () => {
    const { user_id } = await newSession(fixture);
    const { users } = fixture.collections;
    const [before, password_changed_at] = [await users.findOne({ _id: user_id }), new Date()];
    const run = await ask(user_id, async () => {
      await users.updateOne({ _id: user_id }, { $set: { password_changed_at } });
      return 'y';
    });
    expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('was changed or erased') });
    expect(auditLinesOf(run.stderr)).toEqual([]);
    expect(await users.findOne({ _id: user_id })).toEqual({ ...before, password_changed_at });
    expect(await live(user_id)).toBe(1);
  });
});

describe('user disable', () => {
  test('trace of user disable shows who did it and why, and never shows another one’s', async () => {
    const { user_id, email } = await newSession(fixture);
    const first = auditLinesOf((await disable(user_id, '--as', 'Olga')).stderr)[0]?.request_id;
    const disabling = async (request: unknown) => {
      const { steps } = await authctlJson(['trace', String(request)], options);
      return steps.find(({ what }: { what: string }) => what === 'account disabled');
    };
    expect(await disabling(first)).toMatchObject({ user_id, why: 'spam', by: 'Olga' });
    await enable(user_id);
    expect(await disabling(first)).toBeUndefined();
    await logIn(fixture, email);
    const second = auditLinesOf((await disable(user_id, '--as', 'Ben')).stderr)[0]?.request_id;
    expect(await disabling(second)).toMatchObject({ by: 'Ben' });
    expect(await disabling(first)).toBeUndefined();
  });

  test('user disable is in the audit file too if there is one, and is not done if that cannot be written', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'audit-'));
    try {
      const { user_id } = await newSession(fixture);
      const withFile = (path: string) => {
        const env = { ...options.env, AUTHCTL_AUDIT_FILE: join(folder, path) };
        return authctl(['user', 'disable', user_id, ...why], { env });
      };
      const refused = await withFile('nowhere/audit.jsonl');
      expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('cannot be written') });
      expect(await live(user_id)).toBe(1);
      const { stderr } = await withFile('audit.jsonl');
      expect(auditLinesOf(await readFile(join(folder, 'audit.jsonl'), 'utf8'))).toEqual(auditLinesOf(stderr));
      expect(auditLinesOf(stderr)).toHaveLength(2);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('user disable names the user of the operating system if no operator is named', async () => {
    const { user_id } = await newSession(fixture);
    expect(auditLinesOf((await disable(user_id)).stderr)[0]).toMatchObject({ operator: userInfo().username });
    expect(await show(user_id)).toMatchObject({ disabled_by: userInfo().username });
  });

  test('user disable of an account that is disabled already says so, and changes nothing', async () => {
    const { user_id } = await newSession(fixture);
    await disable(user_id, '--as', 'first');
    expect(await show(user_id)).toMatchObject({ disabled_at: expect.any(String), disabled_reason: 'spam' });
    const run = await disable(user_id, '--as', 'second');
    expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('is disabled already') });
    expect(auditLinesOf(run.stderr)).toEqual([]);
    expect(await show(user_id)).toMatchObject({ disabled_by: 'first' });
  });
});

describe('user enable', () => {
  test('user enable lets the account log in again, and brings no session back', async () => {
    const phone = await newSession(fixture);
    await disable(phone.user_id);
    const run = await enable(phone.email, '--as', 'olga');
    expect(run).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Enabled.') });
    expect(auditLinesOf(run.stderr)).toMatchObject([
      { event: 'account.enabled', operator: 'olga', operator_reason: 'spam', user_id: phone.user_id },
    ]);
    expect(await show(phone.user_id)).toMatchObject({ disabled_at: null, disabled_by: null, disabled_reason: null });
    expect(await live(phone.user_id)).toBe(0);
    expect((await login(phone.email)).status).toBe(200);
  });

  test('user enable of an account that is not disabled says so', async () => {
    const run = await enable((await newSession(fixture)).user_id);
    expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('is not disabled') });
  });
});

test('user show prints all that support may know, and nothing that proves a password or makes a token', async () => {
  const phone = await newSession(fixture);
  const set = { display_name: 'Anna', locale: 'ru', deletes_at: new Date('2126-12-06T10:00:00.000Z') } as const;
  await fixture.collections.users.updateOne({ _id: phone.user_id }, { $set: set });
  await fixture.collections.groups.updateOne({ _id: phone.home_group_id }, { $set: { name: 'Garden Street' } });
  const seen = await show(phone.email);
  expect(seen).toEqual({
    user_id: phone.user_id,
    email: phone.email,
    email_verified_at: null,
    pending_email: null,
    display_name: 'Anna',
    locale: 'ru',
    password: 'argon2id',
    passkeys: 0,
    identities: [],
    second_factor_since: null,
    recovery_codes: 0,
    second_factor_removal_due_at: null,
    second_factor_removal_by: null,
    home_group_id: phone.home_group_id,
    account_type: 'HOME',
    role: 'owner',
    created_at: expect.any(String),
    joined_at: seen.created_at,
    last_login_at: expect.any(String),
    password_changed_at: seen.created_at,
    disabled_at: null,
    disabled_by: null,
    disabled_reason: null,
    deletes_at: '2126-12-06T10:00:00.000Z',
    group_name: 'Garden Street',
    group_members: 1,
    live_sessions: 1,
    limits_account: expect.stringMatching(/^[\w-]{22}$/),
    known_places: 1,
    known_places_with_failures: 0,
    wrong_passwords: 0,
    wrong_passwords_from_known: 0,
    wrong_passwords_today: 0,
    login_elsewhere_from: null,
    wrong_factors: 0,
    wrong_factors_from_known: 0,
    factor_tries_elsewhere: [],
    codes_asked_elsewhere: [],
  });
  const user = await fixture.collections.users.findOne({ _id: phone.user_id });
  for (const secret of [user?.password_hash, phone.refresh_token]) expect(JSON.stringify(seen)).not.toContain(secret);
});

test.each([
  ['no reason', ['user', 'disable', 'x@example.com'], 2, "required option '--reason <text>'"],
  ['no name', ['user', 'disable', 'x@example.com', ...why, '--as', ''], 2, 'It must have 1 to 255 characters'],
  ['an unknown user to disable', ['user', 'disable', 'x@example.com', ...why], 1, 'There is no user'],
  ['an unknown user to enable', ['user', 'enable', 'x@example.com', ...why], 1, 'There is no user'],
])('user disable or enable with %s fails and says why', async (_case, args, exitCode, message) => {
  const run = await authctl(args, options);
  expect(run).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(message) });
});
