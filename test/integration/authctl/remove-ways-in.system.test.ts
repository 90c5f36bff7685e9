import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { logIn, newSession, password } from '../../support/accounts.ts';
import { type AuthctlOptions, auditLinesOf, authctl } from '../../support/authctl.ts';
import { confirmReset, requestReset } from '../../support/codes.ts';
import { addPasskey, logInByPasskey, passkeyLogin, passkeySettings, voidPassword } from '../../support/passkeys.ts';
import { linkIdentity, logInByProvider, newPerson, provePerson } from '../../support/providers.ts';
import { switchOn } from '../../support/second-factor.ts';
import { serviceEnvironment } from '../../support/test-api.ts';
import { startTestStack, type TestStack } from '../../support/test-stack.ts';
import { eventually } from '../../support/worker-scene.ts';

let stack: TestStack;
let options: AuthctlOptions;
beforeAll(async () => {
  const cheap = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1', ERASURE_INTERVAL_MS: '50' };
  stack = await startTestStack({ ...passkeySettings, ...cheap });
  options = { env: { ...serviceEnvironment(stack.collections.users.dbName), REDIS_URL: stack.redis.url } };
});
afterAll(() => stack.close());

const newPassword = 'three wrong staples';
const why = ['--reason', "a way in is not the holder's"];
const user = (name: string, id: string, ...more: string[]) => authctl(['user', name, id, ...why, ...more], options);
const command = (id: string) => ['user', 'remove-ways-in', id, ...why];
const remove = (id: string, ...more: string[]) => user('remove-ways-in', id, '--yes', ...more);
const stored = (_id: string) => stack.collections.users.findOne({ _id });
const live = (user_id: string) => stack.collections.sessions.countDocuments({ user_id, is_revoked: false });
const errorOf = ({ status, json }: Awaited<ReturnType<typeof logInByPasskey>>) => [status, json.error_code];

test('takes all passkeys and identities, and ends the sessions, the streams and what is under way', async () => {
  const phone = await newSession(stack);
  const [{ authenticator }, second] = [await addPasskey(stack, phone), await addPasskey(stack, phone)];
  const person = newPerson();
  await linkIdentity(stack, phone, person);
  const [under_way, proof] = [await passkeyLogin(stack, second.authenticator), await provePerson(stack, person)];
  await requestReset(stack, phone.email);
  await logInByPasskey(stack, authenticator);
  const stream = await stack.openStream(phone);
  const before = await stored(phone.user_id);
  const run = await remove(phone.email.toUpperCase());
  expect(run).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Removed: passkeys (2), identities (1). Sessions ended: 2.'),
  });
  expect(await stream.closed).toMatchObject({ code: 4001, reason: 'SESSION_REVOKED' });
  expect(await live(phone.user_id)).toBe(0);
  const { json } = await stack.post('/api/v1/auth/refresh', { refresh_token: phone.refresh_token });
  expect(json.details.reason).toBe('forced');
  expect(await stack.collections.challenges.countDocuments({ user_id: phone.user_id, ended_at: null })).toBe(0);

  const late = await stack.post('/api/v1/auth/passkeys/login', under_way);
  const refused = [late, await logInByPasskey(stack, authenticator)].map(errorOf);
  expect(refused).toEqual(Array(2).fill([403, 'ERR-PASSKEY-INVALID']));
  const byProvider = await stack.post('/api/v1/auth/federated/office', proof);
  expect(errorOf(byProvider)).toEqual([403, 'ERR-REGISTRATION-REQUIRED']);
  const after = await stored(phone.user_id);
  expect([after?.passkeys, after?.identities]).toEqual([[], []]);
  expect(after?.ways_changed_at?.getTime()).toBeGreaterThan(before?.ways_changed_at?.getTime() ?? 0);
  await addPasskey(stack, { ...phone, ...(await logIn(stack, phone.email)) });
});

test('tells subscribers and the holder of each way in, and is in the audit log without the address', async () => {
  const phone = await newSession(stack);
  const { passkey_id } = await addPasskey(stack, phone);
  const { identity_id } = (await linkIdentity(stack, phone, newPerson())).json.data;
  const identity = { identity_id, provider: 'office' };
  const { stderr, stdout } = await remove(phone.email, '--as', 'olga', '--json');
  const { request_id, passkeys, identities, sessions } = JSON.parse(stdout);
  expect([passkeys, identities, sessions]).toEqual([1, 1, 1]);
  const { user_id, session_id } = phone;
  const rows = await stack.collections.outbox.find({ 'event.requestid': request_id }).sort({ _id: 1 }).toArray();
  expect(rows.map(({ event }) => event.data)).toEqual([
    { user_id, passkey_id, removed_at: expect.any(String) },
    { user_id, purpose: 'passkey_removed', locale: 'en' },
    { user_id, ...identity, unlinked_at: expect.any(String) },
    { user_id, purpose: 'identity_unlinked', locale: 'en' },
  ]);
  const shared = { service: 'authctl', audit: true, outcome: 'success', user_id, operator: 'olga', request_id };
  const operator_reason = why[1];
  expect(auditLinesOf(stderr)).toMatchObject([
    { ...shared, event: 'passkey.removed', passkey_id, operator_reason },
    { ...shared, event: 'identity.unlinked', ...identity, operator_reason },
    { ...shared, event: 'account.ways_removed', passkeys: 1, identities: 1, operator_reason },
    { ...shared, event: 'session.revoked', session_id, reason: 'forced' },
  ]);
  expect(stderr).not.toContain('@');
});

test('asks first, and says if only the mailbox is left', async () => {
  const phone = await newSession(stack);
  const { authenticator } = await addPasskey(stack, phone);
  const nobody = await authctl(command(phone.user_id), options);
  expect([nobody.exitCode, nobody.stderr]).toEqual([2, expect.stringContaining('Remove passkeys (1), identities (0)')]);
  expect(nobody.stderr).not.toContain('reset by mail');
  await voidPassword(stack, phone);
  const no = await authctl(command(phone.user_id), { ...options, answer: 'n' });
  expect([no.exitCode, no.stderr]).toEqual([1, expect.stringContaining('only a reset by mail lets the holder in')]);
  expect((await logInByPasskey(stack, authenticator)).status).toBe(200);
  expect(await authctl(command(phone.user_id), { ...options, answer: 'y' })).toMatchObject({ exitCode: 0 });
  expect((await confirmReset(stack, await requestReset(stack, phone.email))).status).toBe(200);
  await logIn(stack, phone.email, { password: newPassword });
});

test('of an account without ways in, or one that changes while the operator is asked, does nothing', async () => {
  const phone = await newSession(stack);
  expect(await remove(phone.user_id)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('no passkeys or identities'),
  });
  await addPasskey(stack, phone);
  const answer = async () => {
    await addPasskey(stack, phone);
    return 'y';
  };
  const run = await authctl(command(phone.user_id), { ...options, answer });
  expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('was changed or erased') });
  expect(auditLinesOf(run.stderr)).toEqual([]);
  expect([(await stored(phone.user_id))?.passkeys?.length, await live(phone.user_id)]).toEqual([2, 1]);
});

test('of one kind leaves the other', async () => {
  const phone = await newSession(stack);
  const person = newPerson();
  await linkIdentity(stack, phone, person);
  const { authenticator } = await addPasskey(stack, phone);
  await voidPassword(stack, phone);
  const asked = await authctl([...command(phone.user_id), '--only', 'passkeys'], { ...options, answer: 'y' });
  expect([asked.exitCode, asked.stdout]).toEqual([0, expect.stringContaining('Removed: passkeys (1). Sessions')]);
  expect(asked.stderr).not.toContain('reset by mail');
  expect((await logInByProvider(stack, person)).status).toBe(200);
  expect((await logInByPasskey(stack, authenticator)).status).toBe(403);
  expect((await remove(phone.user_id, '--only', 'passkeys')).stderr).toContain('no passkeys.');
  expect((await remove(phone.user_id, '--only', 'identities')).stdout).toContain('Removed: identities (1).');
  expect(errorOf(await logInByProvider(stack, person))).toEqual([403, 'ERR-REGISTRATION-REQUIRED']);
});

test('lets no login slip past', async () => {
  const phone = await newSession(stack);
  const { authenticator } = await addPasskey(stack, phone);
  const logins = Array.from({ length: 8 }, () => logInByPasskey(stack, authenticator));
  const [run] = await Promise.all([remove(phone.user_id), ...logins]);
  expect(run.exitCode).toBe(0);
  expect(await live(phone.user_id)).toBe(0);
});

test('holds without Redis: the worker does the rest', async () => {
  const phone = await newSession(stack);
  await addPasskey(stack, phone);
  const stream = await stack.openStream(phone);
  const env = { ...options.env, REDIS_URL: 'redis://127.0.0.1:1' };
  const run = await authctl([...command(phone.user_id), '--yes'], { env });
  expect(run).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('the worker closes them') });
  expect(await stream.closed).toMatchObject({ code: 4001 });
});

test('gives an account back to its owner from a thief with a passkey, an identity and an authenticator app', async () => {
  const thief = await newSession(stack);
  const { email, user_id } = thief;
  await stack.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(0) } });
  const { authenticator } = await addPasskey(stack, thief);
  const person = newPerson();
  await linkIdentity(stack, thief, person);
  await switchOn(stack, thief);
  expect((await confirmReset(stack, await requestReset(stack, email))).status).toBe(200);
  expect((await logInByPasskey(stack, authenticator)).status).toBe(200);
  expect(errorOf(await logInByProvider(stack, person))).toEqual([403, 'ERR-SECOND-FACTOR-REQUIRED']);

  for (const [name = '', ...more] of [['disable'], ['remove-ways-in', '--yes'], ['remove-second-factor', '--yes']])
    expect((await user(name, email, ...more)).exitCode).toBe(0);
  // Three days later.
  const due_at = new Date(Date.now() - 120_000);
  await stack.collections.users.updateOne({ _id: user_id }, { $set: { 'totp.removal.due_at': due_at } });
  await eventually('the factor is removed', async () => (await stored(user_id))?.totp === undefined);
  expect((await user('enable', email)).exitCode).toBe(0);

  expect(errorOf(await logInByPasskey(stack, authenticator))).toEqual([403, 'ERR-PASSKEY-INVALID']);
  expect(errorOf(await logInByProvider(stack, person))).toEqual([403, 'ERR-REGISTRATION-REQUIRED']);
  expect((await stack.post('/api/v1/auth/login', { email, password })).status).toBe(401);
  await logIn(stack, email, { password: newPassword });
});
