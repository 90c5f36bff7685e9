import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newEmail, newSession, password } from '../../support/api/accounts.ts';
import { codeOf, confirmReset, requestChange, requestReset } from '../../support/api/codes.ts';
import { seedAccounts } from '../../support/api/seed-accounts.ts';
import { type AuthctlOptions, auditLinesOf, authctl, authctlJson } from '../../support/processes/authctl.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

/** Hash of the password `U*U` with cost 5: a vector of Openwall's crypt_blowfish. */
const bcryptHash = '$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';

let fixture: OperatorFixture;
let options: AuthctlOptions;
beforeAll(async () => {
  fixture = await openOperatorFixture();
  options = fixture.options;
});
afterAll(() => fixture.close());

const why = ['--reason', 'the phone was stolen'];
const command = (user: string) => ['user', 'reset-password', user, ...why];
const reset = (user: string, ...more: string[]) => authctl([...command(user), '--yes', ...more], options);
const login = (email: string, given = password) => fixture.logIn({ email, password: given });
const stored = (_id: string) => fixture.collections.users.findOne({ _id });

test('user reset-password lets nobody in until the user sets another password', async () => {
  const phone = await newSession(fixture);
  const run = await reset(phone.email);
  expect(run).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Invites revoked: 0. Sessions ended: 1.') });
  expect(auditLinesOf(run.stderr)[0]).toMatchObject({ event: 'account.password_voided', invites_revoked: 0 });
  const shown = async () => (await authctlJson(['user', 'show', phone.email], options)).password;
  expect(await shown()).toBe('void');
  expect((await confirmReset(fixture, await requestReset(fixture, phone.email))).status).toBe(200);
  expect(await shown()).toBe('argon2id');
  expect((await login(phone.email)).status).toBe(401);
  expect((await login(phone.email, 'three wrong staples')).status).toBe(200);
});

test('user reset-password informs subscribers and the user, in the language of the account', async () => {
  const { user_id } = await newSession(fixture);
  await fixture.collections.users.updateOne({ _id: user_id }, { $set: { locale: 'ru' } });
  const invite = { home_group_id: randomUUID(), account_type: 'HOME', created_at: new Date(), uses: 0 } as const;
  const open = { created_by: user_id, expires_at: new Date(Date.now() + 60_000), max_uses: null, revoked_at: null };
  await fixture.collections.invites.insertOne({ _id: randomUUID(), ...invite, ...open });
  const { request_id, password_changed_at, invites_revoked } = await authctlJson(
    [...command(user_id), '--yes'],
    options,
  );
  expect(invites_revoked).toBe(1);
  expect(await fixture.collections.invites.countDocuments({ created_by: user_id, revoked_at: null })).toBe(0);
  const rows = await fixture.collections.outbox.find({ 'event.requestid': request_id }).sort({ _id: 1 }).toArray();
  expect(rows.map(({ topic, event }) => [topic, event.data])).toEqual([
    ['service.auth.events.password_changed', { user_id, changed_at: password_changed_at, reason: 'operator' }],
    ['service.auth.events.notice', { user_id, purpose: 'password_changed', locale: 'ru', invites_revoked: 1 }],
  ]);
  expect((await stored(user_id))?.password_changed_at?.toISOString()).toBe(password_changed_at);
});

test('user reset-password ends open codes, and a change of the email under way', async () => {
  const phone = await newSession(fixture);
  const challenge_id = await requestReset(fixture, phone.email);
  await requestChange(fixture, phone, newEmail());
  const { password_changed_at } = await authctlJson([...command(phone.user_id), '--yes'], options);
  const code = await codeOf(fixture, challenge_id);
  const body = { challenge_id, code, new_password: 'three wrong staples' };
  const answer = await fixture.confirmPasswordReset(body);
  expect([answer.status, answer.json.error_code]).toEqual([403, 'ERR-CODE-INVALID']);
  const open = { user_id: phone.user_id, ended_at: null };
  expect(await fixture.collections.challenges.countDocuments(open)).toBe(0);
  expect((await stored(phone.user_id))?.pending_email_until?.toISOString()).toBe(password_changed_at);
});

test('user reset-password leaves a hash of the same kind and cost, which a login takes like any other', async () => {
  const [email = ''] = await seedAccounts(fixture.collections, 1, bcryptHash);
  const imported = await fixture.collections.users.findOne({ email });
  const own = await newSession(fixture);
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
  const phone = await newSession(fixture);
  await authctl(['user', 'disable', phone.user_id, ...why], options);
  expect((await reset(phone.user_id)).stdout).toContain('Sessions ended: 0.');
  await confirmReset(fixture, await requestReset(fixture, phone.email));
  expect((await login(phone.email, 'three wrong staples')).json.error_code).toBe('ERR-ACCOUNT-DISABLED');
});
