import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newSession, password } from '../../support/api/accounts.ts';
import { type AuthctlOptions, auditLinesOf, authctl, authctlJson } from '../../support/processes/authctl.ts';
import { startHoldingProxy } from '../../support/stores/holding-proxy.ts';
import { mongodbAt, testEnvironment } from '../../support/test-environment.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

const dayMs = 86_400_000;
let fixture: OperatorFixture;
let options: AuthctlOptions;
beforeAll(async () => {
  fixture = await openOperatorFixture();
  options = fixture.options;
});
afterAll(() => fixture.close());

const why = ['--reason', 'asked by letter'];
const remove = (user: string, ...more: string[]) =>
  authctl(['user', 'delete', user, ...why, '--yes', ...more], options);
const restore = (user: string, ...more: string[]) => authctl(['user', 'restore', user, ...why, ...more], options);
const disable = (user: string) => authctl(['user', 'disable', user, ...why], options);
const login = (email: string, given = password) => fixture.logIn({ email, password: given });
const stored = (_id: string) => fixture.collections.users.findOne({ _id });
const live = (user_id: string) => fixture.collections.sessions.countDocuments({ user_id, is_revoked: false });

async function eventsOf(user_id: string, topic: string) {
  const rows = await fixture.collections.outbox.find({ 'event.subject': user_id, topic }).sort({ _id: 1 }).toArray();
  return rows.map(({ event }) => event);
}

describe('user delete', () => {
  test('user delete names the day of the erasure, and so does a login, until the account is restored', async () => {
    const phone = await newSession(fixture);
    const run = await remove(phone.email);
    const deletesAt = (await stored(phone.user_id))?.deletes_at?.toISOString();
    expect(run.stdout).toContain(`Will be erased at ${deletesAt}.`);
    expect((await login(phone.email)).json.details.deletes_at).toBe(deletesAt);

    const restored = await restore(phone.user_id);
    expect(restored).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Restored.') });
    const audited = { event: 'account.deletion_cancelled', operator_reason: 'asked by letter', user_id: phone.user_id };
    expect(auditLinesOf(restored.stderr)).toMatchObject([audited]);
    expect(restored.stderr).not.toContain('@');
    expect(await live(phone.user_id)).toBe(0);
    expect((await login(phone.email)).status).toBe(200);
  });

  test('user delete and restore each send one event to subscribers and one notification to the user', async () => {
    const phone = await newSession(fixture);
    await fixture.collections.users.updateOne({ _id: phone.user_id }, { $set: { locale: 'ru' } });
    const { user_id } = phone;
    const { deletes_at, request_id, sessions } = await authctlJson(
      ['user', 'delete', user_id, ...why, '--yes', '--grace-days', '3'],
      options,
    );
    expect(sessions).toBe(1);
    const [scheduled, ...more] = await eventsOf(user_id, 'service.auth.events.deletion_scheduled');
    expect(more).toEqual([]);
    expect(scheduled).toMatchObject({ requestid: request_id, data: { user_id, deletes_at } });
    expect(Date.parse(deletes_at) - Date.parse(scheduled?.time ?? '')).toBe(3 * dayMs);
    const notifications = await eventsOf(user_id, 'service.auth.events.notice');
    expect(notifications.map(({ data }) => data)).toEqual([
      { user_id, purpose: 'deletion_scheduled', locale: 'ru', deletes_at },
    ]);
    const { request_id: restoredBy } = await authctlJson(['user', 'restore', user_id, ...why], options);
    const cancelled = await eventsOf(user_id, 'service.auth.events.deletion_cancelled');
    expect(cancelled).toMatchObject([{ requestid: restoredBy, data: { user_id } }]);
    const [, notification] = await eventsOf(user_id, 'service.auth.events.notice');
    expect(notification).toMatchObject({
      requestid: restoredBy,
      data: { user_id, purpose: 'deletion_cancelled', locale: 'ru' },
    });
    await eventually('the subscriber has both', async () => {
      const types = fixture.receiver.received
        .filter(({ event }) => event.subject === user_id)
        .map(({ event }) => event.type);
      const both = ['service.auth.events.deletion_scheduled', 'service.auth.events.deletion_cancelled'];
      return both.every((type) => types.includes(type as never));
    });
  });

  test('user delete is done once if the reply to its commit is lost', async () => {
    const { user_id } = await newSession(fixture);
    const proxy = await startHoldingProxy(Number(new URL(testEnvironment().mongodbUri).port));
    try {
      const env = { ...options.env, MONGODB_URI: mongodbAt(proxy.port) };
      proxy.dropReplyTo('commitTransaction');
      const run = await authctl(['user', 'delete', user_id, ...why, '--yes'], { env });
      expect([run.exitCode, proxy.dropped()]).toEqual([0, 1]);
    } finally {
      await proxy.close();
    }
    expect(await live(user_id)).toBe(0);
    expect(await eventsOf(user_id, 'service.auth.events.deletion_scheduled')).toHaveLength(1);
  });

  test('an account deleted with a grace of 0 days is erased by the worker, and is unknown afterwards', async () => {
    const { user_id, email } = await newSession(fixture);
    expect((await remove(user_id, '--grace-days', '0')).exitCode).toBe(0);
    await eventually('it is erased', async () => (await stored(user_id)) === null);
    for (const run of [await remove(user_id), await remove(email), await restore(user_id)]) {
      expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('There is no user') });
    }
  });

  test('user delete takes the grace from ACCOUNT_DELETION_GRACE_DAYS, which is 14 by default', async () => {
    const [short, usual] = [await newSession(fixture), await newSession(fixture)];
    const env = { ...options.env, ACCOUNT_DELETION_GRACE_DAYS: '2' };
    await authctl(['user', 'delete', short.user_id, ...why, '--yes'], { env });
    await remove(usual.user_id);
    const graces = await Promise.all(
      [short, usual].map(async ({ user_id }) => {
        const [event] = await eventsOf(user_id, 'service.auth.events.deletion_scheduled');
        return Number((await stored(user_id))?.deletes_at) - Date.parse(event?.time ?? '');
      }),
    );
    expect(graces).toEqual([2 * dayMs, 14 * dayMs]);
  });

  test('user delete of an account whose deletion is ordered already says when it comes, and changes nothing', async () => {
    const { user_id } = await newSession(fixture);
    const runs = await Promise.all([remove(user_id), remove(user_id), remove(user_id, '--grace-days', '2')]);
    const before = await stored(user_id);
    const late = [...runs.filter(({ exitCode }) => exitCode !== 0), await remove(user_id, '--grace-days', '1')];
    expect(late).toHaveLength(3);
    for (const run of late) {
      const message = `is ordered already: it will be erased at ${before?.deletes_at?.toISOString()}`;
      expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(message) });
      expect(auditLinesOf(run.stderr)).toEqual([]);
    }
    expect(await stored(user_id)).toEqual(before);
    expect(await eventsOf(user_id, 'service.auth.events.deletion_scheduled')).toHaveLength(1);
  });

  test('user delete says in its question when the account is erased', async () => {
    const { user_id } = await newSession(fixture);
    const question = async (...more: string[]) =>
      (await authctl(['user', 'delete', user_id, ...why, ...more], { ...options, answer: 'n' })).stderr;
    expect(await question()).toContain('erased in 14 days');
    expect(await question('--grace-days', '0')).toContain('erased at once, for good');
  });
});

describe('user restore', () => {
  test('user restore of an account that is not about to be deleted says so', async () => {
    const run = await restore((await newSession(fixture)).user_id);
    expect(run).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('is not about to be deleted'),
    });
  });

  test('user restore gives back a disabled account, which its user cannot, and it stays disabled', async () => {
    const phone = await newSession(fixture);
    await disable(phone.user_id);
    await remove(phone.user_id);
    const own = await fixture.restoreAccount({ email: phone.email, password });
    expect([own.status, own.json.error_code]).toEqual([403, 'ERR-ACCOUNT-DISABLED']);
    const run = await restore(phone.user_id);
    expect(run).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('It is still disabled.') });
    expect(await stored(phone.user_id)).not.toHaveProperty('deletes_at');
    expect((await login(phone.email)).json.error_code).toBe('ERR-ACCOUNT-DISABLED');
  });

  test('user restore comes too late once the time of the erasure has come', async () => {
    const { user_id } = await newSession(fixture);
    await authctlJson(['user', 'delete', user_id, ...why, '--yes'], options);
    // It would erase the account at once.
    await fixture.worker.close();
    const deletes_at = new Date();
    await fixture.collections.users.updateOne({ _id: user_id }, { $set: { deletes_at } });
    const run = await restore(user_id);
    expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('cannot be restored') });
    expect((await stored(user_id))?.deletes_at).toEqual(deletes_at);
    expect(await eventsOf(user_id, 'service.auth.events.deletion_cancelled')).toEqual([]);
  });
});

test.each([
  ['an email address as the reason', ['user', 'delete', 'x', '--reason', 'by a@b.c', '--yes'], 2, 'no e-mail address'],
  ['a grace that is too long', ['user', 'delete', 'x', ...why, '--grace-days', '31'], 2, 'whole number from 0 to 30'],
  ['a grace that is no number', ['user', 'delete', 'x', ...why, '--grace-days', '1.5'], 2, 'whole number from 0 to 30'],
])('a deletion with %s fails and says why', async (_case, args, exitCode, message) => {
  const run = await authctl(args, options);
  expect(run).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(message) });
});

test('no email is in the log of a service', () => {
  const { lines } = fixture;
  expect(lines.filter((line) => line.includes('account.deleted'))).not.toEqual([]);
  expect(lines.filter((line) => line.includes('@example.com'))).toEqual([]);
});
