import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newSession } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { beginLogin, guardedAccount, orderRemoval } from '../../support/api/second-factor.ts';
import { type AuthctlOptions, auditLinesOf, authctl, authctlJson } from '../../support/processes/authctl.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

let fixture: OperatorFixture;
let options: AuthctlOptions;
beforeAll(async () => {
  fixture = await openOperatorFixture();
  options = fixture.options;
});
afterAll(() => fixture.close());

const why = ['--reason', 'the phone is lost'];
const command = (user: string, ...more: string[]) => ['user', 'remove-second-factor', user, ...why, ...more];
const order = (user: string, ...more: string[]) => authctl(command(user, '--yes', ...more), options);
const stop = (user: string) => authctl(command(user, '--stop'), options);
const show = (user: string) => authctlJson(['user', 'show', user], options);
const stored = async (_id: string) => (await fixture.collections.users.findOne({ _id }))?.totp?.removal;
const notificationsOf = async (user_id: string) => {
  const rows = await fixture.collections.outbox.find({ 'event.data.user_id': user_id }).sort({ _id: 1 }).toArray();
  return rows.flatMap(({ event }) => (/notice/.test(event.type) ? [event.data] : []));
};

// guarantees: factor-removal-in-72-hours
test('remove-second-factor orders the removal in 72 hours, never sooner, and informs the user by mail and in the apps', async () => {
  const phone = await guardedAccount(fixture);
  const stream = await fixture.openStream(phone);
  const before = Date.now();
  const { due_at, request_id, problem } = await authctlJson(command(phone.email, '--yes', '--as', 'olga'), options);
  expect([Date.parse(due_at) - before > 72 * 3_600_000 - 1, problem]).toEqual([true, null]);
  const removal = await stored(phone.user_id);
  expect(removal).toMatchObject({ by: 'staff', due_at: new Date(due_at) });
  expect(await stream.next()).toMatchObject({ topic: 'security.second_factor_removal', payload: { due_at } });
  const notification = { purpose: 'second_factor_removal_ordered', removal_id: removal?.id, due_at };
  expect((await notificationsOf(phone.user_id)).at(-1)).toMatchObject(notification);
  expect(request_id).toMatch(/^authctl-/);
  await beginLogin(fixture, phone.email);
  expect(await show(phone.user_id)).toMatchObject({
    ...{ second_factor_removal_due_at: due_at, second_factor_removal_by: 'staff' },
  });
  const own = await fixture.findFactors(bearer(phone));
  expect(own.json.data.removal).toEqual({ due_at });
  stream.socket.terminate();
});

test('remove-second-factor refuses a second order, and an account without a second factor, and asks first', async () => {
  const phone = await guardedAccount(fixture);
  const asked = await authctl(command(phone.user_id), options);
  expect([asked.exitCode, asked.stderr]).toEqual([2, expect.stringContaining('in 72 hours? ')]);
  expect(await stored(phone.user_id)).toBeUndefined();
  const due = await orderRemoval(fixture, phone.email);
  const again = await order(phone.user_id);
  expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining(`ordered already: ${due.toISOString()}`)]);
  expect(await stored(phone.user_id)).toMatchObject({ by: 'mail', due_at: due });
  const { user_id } = await newSession(fixture);
  expect(await order(user_id)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no second factor') });
});

test('remove-second-factor --stop stops a removal, whoever has ordered it, and is in the audit log', async () => {
  const phone = await guardedAccount(fixture);
  const ordered = await order(phone.user_id, '--as', 'olga');
  const stream = await fixture.openStream(phone);
  const stopped = await stop(phone.user_id);
  expect(await stored(phone.user_id)).toBeUndefined();
  expect(await stream.next()).toMatchObject({ payload: { due_at: null } });
  expect((await notificationsOf(phone.user_id)).at(-1)).toMatchObject({ purpose: 'second_factor_removal_stopped' });
  const line = { service: 'authctl', audit: true, user_id: phone.user_id, operator_reason: 'the phone is lost' };
  expect([ordered, stopped].flatMap(({ stderr }) => auditLinesOf(stderr))).toMatchObject([
    { ...line, event: 'account.second_factor_removal_ordered', operator: 'olga' },
    { ...line, event: 'account.second_factor_removal_stopped' },
  ]);
  expect(await stop(phone.user_id)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('No removal') });
  stream.socket.terminate();
});

test('remove-second-factor needs no Redis', async () => {
  const phone = await guardedAccount(fixture);
  const away = { env: { ...options.env, REDIS_URL: 'redis://127.0.0.1:1' } };
  const run = await authctl(command(phone.user_id, '--yes'), away);
  expect(run).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('The apps got no message') });
  expect(await stored(phone.user_id)).toMatchObject({ by: 'staff' });
});
