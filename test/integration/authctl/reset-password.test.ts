import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newEmail, newSession, password } from '../../support/accounts.ts';
import { type AuthctlOptions, auditLinesOf, authctl, authctlJson } from '../../support/authctl.ts';
import { codeOf, confirmReset, requestChange, requestReset } from '../../support/codes.ts';
import { seedAccounts } from '../../support/seed-accounts.ts';
import { type OperatorScene, openOperatorScene } from './operator-scene.ts';

/** Hash of the password `U*U` with cost 5: a vector of Openwall's crypt_blowfish. */
const bcryptHash = '$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';

let scene: OperatorScene;
let options: AuthctlOptions;
beforeAll(async () => {
  scene = await openOperatorScene();
  options = scene.options;
});
afterAll(() => scene.close());

const why = ['--reason', 'the phone was stolen'];
const command = (user: string) => ['user', 'reset-password', user, ...why];
const reset = (user: string, ...more: string[]) => authctl([...command(user), '--yes', ...more], options);
const login = (email: string, given = password) => scene.post('/api/v1/auth/login', { email, password: given });
const stored = (_id: string) => scene.collections.users.findOne({ _id });
const live = (user_id: string) => scene.collections.sessions.countDocuments({ user_id, is_revoked: false });

test('user reset-password lets nobody in until the user sets another password', async () => {
  const phone = await newSession(scene);
  const run = await reset(phone.email);
  expect(run).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Invites revoked: 0. Sessions ended: 1.') });
  expect((await confirmReset(scene, await requestReset(scene, phone.email))).status).toBe(200);
  expect((await login(phone.email)).status).toBe(401);
  expect((await login(phone.email, 'three wrong staples')).status).toBe(200);
});

test('user reset-password is in the audit log with the name of the operator, without the email', async () => {
  const phone = await newSession(scene);
  const { stderr } = await reset(phone.email, '--as', 'olga');
  const shared = {
    level: 'info',
    service: 'authctl',
    audit: true,
    outcome: 'success',
    user_id: phone.user_id,
    operator: 'olga',
    request_id: expect.stringMatching(/^authctl-/),
  };
  expect(auditLinesOf(stderr)).toMatchObject([
    { ...shared, event: 'account.password_voided', operator_reason: 'the phone was stolen', invites_revoked: 0 },
    { ...shared, event: 'session.revoked', session_id: phone.session_id, reason: 'password_changed' },
  ]);
  expect(stderr).not.toContain('@');
});

test('user reset-password informs subscribers and the user, in the language of the account', async () => {
  const { user_id } = await newSession(scene);
  await scene.collections.users.updateOne({ _id: user_id }, { $set: { locale: 'ru' } });
  const invite = { home_group_id: randomUUID(), account_type: 'HOME', created_at: new Date(), uses: 0 } as const;
  const open = { created_by: user_id, expires_at: new Date(Date.now() + 60_000), max_uses: null, revoked_at: null };
  await scene.collections.invites.insertOne({ _id: randomUUID(), ...invite, ...open });
  const { request_id, password_changed_at, invites_revoked } = await authctlJson(
    [...command(user_id), '--yes'],
    options,
  );
  expect(invites_revoked).toBe(1);
  expect(await scene.collections.invites.countDocuments({ created_by: user_id, revoked_at: null })).toBe(0);
  const rows = await scene.collections.outbox.find({ 'event.requestid': request_id }).sort({ _id: 1 }).toArray();
  expect(rows.map(({ topic, event }) => [topic, event.data])).toEqual([
    ['service.auth.events.password_changed', { user_id, changed_at: password_changed_at, reason: 'operator' }],
    ['service.auth.events.notice', { user_id, purpose: 'password_changed', locale: 'ru', invites_revoked: 1 }],
  ]);
  expect((await stored(user_id))?.password_changed_at?.toISOString()).toBe(password_changed_at);
});

test('user reset-password ends open codes, and a change of the email under way', async () => {
  const phone = await newSession(scene);
  const challenge_id = await requestReset(scene, phone.email);
  await requestChange(scene, phone, newEmail());
  const { password_changed_at } = await authctlJson([...command(phone.user_id), '--yes'], options);
  const code = await codeOf(scene, challenge_id);
  const body = { challenge_id, code, new_password: 'three wrong staples' };
  const answer = await scene.post('/api/v1/auth/password-reset/confirm', body);
  expect([answer.status, answer.json.error_code]).toEqual([403, 'ERR-CODE-INVALID']);
  const open = { user_id: phone.user_id, ended_at: null };
  expect(await scene.collections.challenges.countDocuments(open)).toBe(0);
  expect((await stored(phone.user_id))?.pending_email_until?.toISOString()).toBe(password_changed_at);
});

test('user reset-password leaves a hash of the same kind and cost, which a login takes like any other', async () => {
  const [email = ''] = await seedAccounts(scene.collections, 1, bcryptHash);
  const imported = await scene.collections.users.findOne({ email });
  const own = await newSession(scene);
  const before = (await stored(own.user_id))?.password_hash ?? '';
  for (const user of [email, own.user_id]) expect((await reset(user)).exitCode).toBe(0);
  const bcrypt = (await stored(imported?._id ?? ''))?.password_hash;
  const argon2 = (await stored(own.user_id))?.password_hash;
  expect(bcrypt).toMatch(/^\$2b\$05\$CCCCCCCCCCCCCCCCCCCCC\.[./A-Za-z0-9]{31}$/);
  expect(argon2).toMatch(/^\$argon2id\$v=19\$[^$]+\$[^$]+\$[A-Za-z0-9+/]{43}$/);
  const upTo = before.lastIndexOf('$');
  expect(argon2?.slice(0, upTo)).toBe(before.slice(0, upTo));
  expect([bcrypt, argon2]).not.toEqual([bcryptHash, before]);
  expect((await login(email, 'U*U')).status).toBe(401);
  expect((await login(own.email)).status).toBe(401);
  await reset(own.user_id);
  expect((await stored(own.user_id))?.password_hash).not.toBe(argon2);
});

test('user reset-password leaves a disabled account disabled', async () => {
  const phone = await newSession(scene);
  await authctl(['user', 'disable', phone.user_id, ...why], options);
  expect((await reset(phone.user_id)).stdout).toContain('Sessions ended: 0.');
  await confirmReset(scene, await requestReset(scene, phone.email));
  expect((await login(phone.email, 'three wrong staples')).json.error_code).toBe('ERR-ACCOUNT-DISABLED');
});

test('user reset-password asks first: no is no, yes is yes, and if nobody can be asked it needs --yes', async () => {
  const { user_id, email } = await newSession(scene);
  const nobody = await authctl(command(user_id), options);
  expect(nobody).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('give --yes') });
  const no = await authctl(command(user_id), { ...options, answer: 'n' });
  expect(no).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('[y/N]') });
  expect((await login(email)).status).toBe(200);
  expect(await authctl(command(user_id), { ...options, answer: 'y' })).toMatchObject({ exitCode: 0 });
  expect((await login(email)).status).toBe(401);
});

test('user reset-password does nothing to an account that changes while the operator is asked', async () => {
  const { user_id } = await newSession(scene);
  const before = (await stored(user_id))?.password_hash;
  const password_changed_at = new Date();
  const answer = async () => {
    await scene.collections.users.updateOne({ _id: user_id }, { $set: { password_changed_at } });
    return 'y';
  };
  const run = await authctl(command(user_id), { ...options, answer });
  expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('was changed or erased') });
  expect(auditLinesOf(run.stderr)).toEqual([]);
  expect(await stored(user_id)).toMatchObject({ password_hash: before, password_changed_at });
  expect(await live(user_id)).toBe(1);
});

test.each([
  ['no reason', ['user', 'reset-password', 'x', '--yes'], 2, "required option '--reason <text>'"],
  ['an unknown user', [...command('x@example.com'), '--yes'], 1, 'There is no user'],
])('user reset-password with %s fails and says why', async (_case, args, exitCode, told) => {
  const run = await authctl(args, options);
  expect(run).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(told) });
});
