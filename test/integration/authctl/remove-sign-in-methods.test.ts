import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Binary } from 'mongodb';
import { logIn, newSession, password } from '../../support/api/accounts.ts';
import { confirmReset, requestReset } from '../../support/api/codes.ts';
import { addPasskey, logInByPasskey, passkeyLogin, revokePassword } from '../../support/api/passkeys.ts';
import { linkIdentity, logInByProvider, newPerson, provePerson } from '../../support/api/providers.ts';
import { switchOn } from '../../support/api/second-factor.ts';
import { type AuthctlOptions, auditLinesOf, authctl } from '../../support/processes/authctl.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

let fixture: OperatorFixture;
let options: AuthctlOptions;
beforeAll(async () => {
  fixture = await openOperatorFixture();
  options = fixture.options;
});
afterAll(() => fixture.close());

const newPassword = 'three wrong staples';
const why = ['--reason', "a sign-in method is not the holder's"];
const user = (name: string, id: string, ...more: string[]) => authctl(['user', name, id, ...why, ...more], options);
const command = (id: string) => ['user', 'remove-ways-in', id, ...why];
const remove = (id: string, ...more: string[]) => user('remove-ways-in', id, '--yes', ...more);
const stored = (_id: string) => fixture.collections.users.findOne({ _id });
const live = (user_id: string) => fixture.collections.sessions.countDocuments({ user_id, is_revoked: false });
const errorOf = ({ status, json }: Awaited<ReturnType<typeof logInByPasskey>>) => [status, json.error_code];

test('remove-ways-in removes all passkeys and identities, and ends the sessions, the streams and open challenges', async () => {
  const phone = await newSession(fixture);
  const [{ authenticator }, second] = [await addPasskey(fixture, phone), await addPasskey(fixture, phone)];
  const person = newPerson();
  await linkIdentity(fixture, phone, person);
  const [under_way, proof] = [await passkeyLogin(fixture, second.authenticator), await provePerson(fixture, person)];
  await requestReset(fixture, phone.email);
  await logInByPasskey(fixture, authenticator);
  const stream = await fixture.openStream(phone);
  const before = await stored(phone.user_id);
  const run = await remove(phone.email.toUpperCase());
  expect(run).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Removed: passkeys (2), identities (1). Sessions ended: 2.'),
  });
  expect(await stream.closed).toMatchObject({ code: 4001, reason: 'SESSION_REVOKED' });
  expect(await live(phone.user_id)).toBe(0);
  const { json } = await fixture.refreshTokens({ refresh_token: phone.refresh_token });
  expect(json.details.reason).toBe('forced');
  expect(await fixture.collections.challenges.countDocuments({ user_id: phone.user_id, ended_at: null })).toBe(0);

  const late = await fixture.logInByPasskey(under_way);
  const refused = [late, await logInByPasskey(fixture, authenticator)].map(errorOf);
  expect(refused).toEqual(Array(2).fill([403, 'ERR-PASSKEY-INVALID']));
  const byProvider = await fixture.logInByProvider({ provider: 'office', ...proof });
  expect(errorOf(byProvider)).toEqual([403, 'ERR-REGISTRATION-REQUIRED']);
  const after = await stored(phone.user_id);
  expect([after?.passkeys, after?.identities]).toEqual([[], []]);
  expect(after?.ways_changed_at?.getTime()).toBeGreaterThan(before?.ways_changed_at?.getTime() ?? 0);
  await addPasskey(fixture, { ...phone, ...(await logIn(fixture, phone.email)) });
});

test('remove-ways-in informs subscribers and the user of each removal, and is in the audit log without the email', async () => {
  const phone = await newSession(fixture);
  const { passkey_id } = await addPasskey(fixture, phone);
  const { identity_id } = (await linkIdentity(fixture, phone, newPerson())).json.data;
  const identity = { identity_id, provider: 'office' };
  const { stderr, stdout } = await remove(phone.email, '--as', 'olga', '--json');
  const { request_id, passkeys, identities, sessions } = JSON.parse(stdout);
  expect([passkeys, identities, sessions]).toEqual([1, 1, 1]);
  const { user_id, session_id } = phone;
  const rows = await fixture.collections.outbox.find({ 'event.requestid': request_id }).sort({ _id: 1 }).toArray();
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

test('remove-ways-in asks first, and says if only the mailbox is left', async () => {
  const phone = await newSession(fixture);
  const { authenticator } = await addPasskey(fixture, phone);
  const nobody = await authctl(command(phone.user_id), options);
  expect([nobody.exitCode, nobody.stderr]).toEqual([2, expect.stringContaining('Remove passkeys (1), identities (0)')]);
  expect(nobody.stderr).not.toContain('reset by mail');
  await revokePassword(fixture, phone);
  const no = await authctl(command(phone.user_id), { ...options, answer: 'n' });
  expect([no.exitCode, no.stderr]).toEqual([1, expect.stringContaining('only a reset by mail lets the holder in')]);
  expect((await logInByPasskey(fixture, authenticator)).status).toBe(200);
  expect(await authctl(command(phone.user_id), { ...options, answer: 'y' })).toMatchObject({ exitCode: 0 });
  expect((await confirmReset(fixture, await requestReset(fixture, phone.email))).status).toBe(200);
  await logIn(fixture, phone.email, { password: newPassword });
});

test('remove-ways-in does nothing to an account without passkeys and identities, or one that changes meanwhile', async () => {
  const phone = await newSession(fixture);
  expect(await remove(phone.user_id)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('no passkeys or identities'),
  });
  await addPasskey(fixture, phone);
  const answer = async () => {
    await addPasskey(fixture, phone);
    return 'y';
  };
  const run = await authctl(command(phone.user_id), { ...options, answer });
  expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('was changed or erased') });
  expect(auditLinesOf(run.stderr)).toEqual([]);
  expect([(await stored(phone.user_id))?.passkeys?.length, await live(phone.user_id)]).toEqual([2, 1]);
});

test('remove-ways-in leaves no token of a provider behind, and reports only what it has removed itself', async () => {
  const phone = await newSession(fixture);
  const ids: string[] = [];
  for (let nth = 0; nth < 2; nth += 1) {
    ids.push((await linkIdentity(fixture, phone, newPerson())).json.data.identity_id);
  }
  const token = { kid: 'k', token: new Binary(Buffer.alloc(48)), client_id: 'app' };
  const { users, providerRevocations } = fixture.collections;
  const answer = async () => {
    const [of, gone] = ids.map((id) => ({ _id: phone.user_id, 'identities.id': id }));
    await users.updateOne({ ...of }, { $set: { 'identities.$.refresh_token': token } });
    // As after a security event of its provider.
    await users.updateOne({ ...gone }, { $pull: { identities: { id: ids[1] ?? '' } } });
    return 'y';
  };
  const { stdout } = await authctl(command(phone.user_id), { ...options, answer });
  expect(stdout).toContain('Removed: passkeys (0), identities (1).');
  const ofUser = { 'event.data.user_id': phone.user_id, topic: /identity_unlinked$/ };
  const rows = await fixture.collections.outbox.find(ofUser).toArray();
  expect(rows.map(({ event }) => event.data)).toMatchObject([{ identity_id: ids[0] }]);
  expect(await providerRevocations.find({ user_id: phone.user_id }).toArray()).toMatchObject([{ _id: ids[0] }]);
});

test('remove-ways-in of one kind leaves the other', async () => {
  const phone = await newSession(fixture);
  const person = newPerson();
  await linkIdentity(fixture, phone, person);
  const { authenticator } = await addPasskey(fixture, phone);
  await revokePassword(fixture, phone);
  const asked = await authctl([...command(phone.user_id), '--only', 'passkeys'], { ...options, answer: 'y' });
  expect([asked.exitCode, asked.stdout]).toEqual([0, expect.stringContaining('Removed: passkeys (1). Sessions')]);
  expect(asked.stderr).not.toContain('reset by mail');
  expect((await logInByProvider(fixture, person)).status).toBe(200);
  expect((await logInByPasskey(fixture, authenticator)).status).toBe(403);
  expect((await remove(phone.user_id, '--only', 'passkeys')).stderr).toContain('no passkeys.');
  expect((await remove(phone.user_id, '--only', 'identities')).stdout).toContain('Removed: identities (1).');
  expect(errorOf(await logInByProvider(fixture, person))).toEqual([403, 'ERR-REGISTRATION-REQUIRED']);
});

// guarantees: operator-ends-sessions
test('remove-ways-in lets no concurrent login slip past', async () => {
  const phone = await newSession(fixture);
  const { authenticator } = await addPasskey(fixture, phone);
  const logins = Array.from({ length: 8 }, () => logInByPasskey(fixture, authenticator));
  const [run] = await Promise.all([remove(phone.user_id), ...logins]);
  expect(run.exitCode).toBe(0);
  expect(await live(phone.user_id)).toBe(0);
});

// guarantees: factor-removal-by-owner
test('an owner gets an account back from a thief with a passkey, an identity and an authenticator app', async () => {
  const thief = await newSession(fixture);
  const { email, user_id } = thief;
  await fixture.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(0) } });
  const { authenticator } = await addPasskey(fixture, thief);
  const person = newPerson();
  await linkIdentity(fixture, thief, person);
  await switchOn(fixture, thief);
  expect((await confirmReset(fixture, await requestReset(fixture, email))).status).toBe(200);
  expect((await logInByPasskey(fixture, authenticator)).status).toBe(200);
  expect(errorOf(await logInByProvider(fixture, person))).toEqual([403, 'ERR-SECOND-FACTOR-REQUIRED']);

  for (const [name = '', ...more] of [['disable'], ['remove-ways-in', '--yes'], ['remove-second-factor', '--yes']])
    expect((await user(name, email, ...more)).exitCode).toBe(0);
  // Three days later.
  const due_at = new Date(Date.now() - 120_000);
  await fixture.collections.users.updateOne({ _id: user_id }, { $set: { 'totp.removal.due_at': due_at } });
  await eventually('the factor is removed', async () => (await stored(user_id))?.totp === undefined);
  expect((await user('enable', email)).exitCode).toBe(0);

  expect(errorOf(await logInByPasskey(fixture, authenticator))).toEqual([403, 'ERR-PASSKEY-INVALID']);
  expect(errorOf(await logInByProvider(fixture, person))).toEqual([403, 'ERR-REGISTRATION-REQUIRED']);
  expect((await fixture.logIn({ email, password })).status).toBe(401);
  await logIn(fixture, email, { password: newPassword });
});
