import { randomUUID } from 'node:crypto';
import { type MailSink, startMailSink } from '@auth-account/local-stack/mail-sink';
import { inviteRef } from '@auth-account/stores';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { logIn, newSession, password } from '../../support/api/accounts.ts';
import { codeOf, makeResendDue, requestReset } from '../../support/api/codes.ts';
import { joinBy, newInvite } from '../../support/api/invites.ts';
import { addPasskey } from '../../support/api/passkeys.ts';
import { guardedAccount } from '../../support/api/second-factor.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { type Receiver, startReceiver } from '../../support/worker/worker-receiver.ts';
import { type ActionFields, type Client, openStaffApp, type StaffApp } from './staff-app.ts';

let sink: MailSink;
let billing: Receiver;
let app: StaffApp;
let support: Client;
let operator: Client;
beforeAll(async () => {
  sink = await startMailSink(() => undefined);
  billing = await startReceiver('billing');
  const url = `smtp://127.0.0.1:${sink.port}`;
  const mail = { name: 'mail', kind: 'smtp', url, starttls: false, from: 'no-reply@kitchen.example' };
  const EVENT_SUBSCRIBERS = JSON.stringify([mail, billing.subscriber]);
  const limits = { LOGIN_ACCOUNT_FREE_FAILURES: '2', LOGIN_ACCOUNT_FAILURES_PER_DAY: '2', TRUST_PROXY_HOPS: '1' };
  app = await openStaffApp([], { EVENT_SUBSCRIBERS, ...limits });
  support = await app.hire('support');
  operator = await app.hire('operator');
});
afterAll(async () => {
  await app.close();
  await billing.close();
  await sink.stop();
});

const live = (user_id: string) => app.collections.sessions.countDocuments({ user_id, is_revoked: false });
const stored = (_id: string) => app.collections.users.findOne({ _id });
const mailsTo = (email: string) => sink.mails().filter(({ to }) => to === email);
const linesAbout = (id: string) => app.audited().filter((line) => line.target === id || line.user_id === id);

/** Plans and confirms the action, and expects its success and its line in the audit log. */
async function done(by: Client, fields: ActionFields) {
  const { status, json, digest } = await by.confirm(fields);
  expect([status, json.state, json.error?.message]).toEqual([200, 'done', undefined]);
  expect(app.audited().at(-1)).toMatchObject({
    ...{ event: 'console.action', outcome: 'success', ...fields.options, action: fields.action, target: fields.target },
    ...{ staff: by.staff.subject, staff_name: by.staff.name, reason: 'ticket 7', request_id: json.request_id },
  });
  return { ...json, digest };
}

/** Expects that the confirmed action is refused when it is sent once more. */
async function refusedAgain(by: Client, fields: ActionFields, { digest }: { digest: string }) {
  const { status, json } = await by.act({ ...fields, digest });
  return [status, json.error?.code];
}

test('ending a session closes its stream and leaves the others', async () => {
  const phone = await newSession(app);
  await logIn(app, phone.email);
  const stream = await app.openStream(phone);
  const fields = { action: 'session.end', target: phone.session_id } as const;
  const result = await done(support, fields);
  expect(result.facts).toMatchObject({ sessions: 1 });
  expect(await stream.closed).toMatchObject({ code: 4001 });
  expect(await live(phone.user_id)).toBe(1);
  const session = await app.collections.sessions.findOne({ _id: phone.session_id });
  expect(session).toMatchObject({ revoked_reason: 'forced', revoked_request_id: result.request_id });
  expect(await refusedAgain(support, fields, result)).toEqual([409, 'refused']);
});

test('ending all sessions of an account ends them, after a question that says how many', async () => {
  const phone = await newSession(app);
  await logIn(app, phone.email);
  const stream = await app.openStream(phone);
  const fields = { action: 'sessions.end_all', target: phone.user_id } as const;
  expect((await support.plan(fields)).json.question).toContain('It has 2.');
  const result = await done(support, fields);
  expect([result.facts.sessions, await live(phone.user_id)]).toEqual([2, 0]);
  expect(await stream.closed).toMatchObject({ code: 4001 });
  expect(await refusedAgain(support, fields, result)).toEqual([409, 'changed']);
});

test('a code that is sent again arrives in the mailbox, is the same code, and counts as a resend of the app', async () => {
  const { email, user_id } = await newSession(app);
  const challenge_id = await requestReset(app, email);
  const code = await codeOf(app, challenge_id);
  const codes = () => mailsTo(email).filter(({ text }) => text.replace(/\D/g, '').includes(code));
  await eventually('the code arrives', () => codes().length === 1);
  const fields = { action: 'code.resend', target: user_id } as const;
  const early = await support.plan(fields);
  const challenge = await app.collections.challenges.findOne({ _id: challenge_id });
  const from = challenge?.resend_at.toISOString();
  expect(early).toMatchObject({
    status: 409,
    json: { error: { code: 'refused', message: expect.stringContaining(`${from}`) } },
  });
  await makeResendDue(app, challenge_id);
  const result = await done(support, fields);
  expect(result.facts).toEqual({ user_id, purpose: 'password_reset', resends_left: 2 });
  await eventually('the code arrives again', () => codes().length === 2);
  expect(await refusedAgain(support, fields, result)).toEqual([409, 'refused']);
  expect((await app.resendPasswordReset({ challenge_id })).status).toBe(429);
  const { subject, name } = support.staff;
  expect(linesAbout(user_id).find(({ event }) => event === 'code.resent')).toMatchObject({
    ...{ purpose: 'password_reset', operator: subject, operator_name: name, operator_reason: 'ticket 7' },
    request_id: result.request_id,
  });
  await app.collections.challenges.updateOne({ _id: challenge_id }, { $set: { resends_left: 0 } });
  const over = await support.plan(fields);
  expect(over.json.error.message).toContain('cannot be sent again');
});

test('no code is sent again for an account that has requested none, or to an address that another account has', async () => {
  const [phone, other] = [await newSession(app), await newSession(app)];
  const fields = { action: 'code.resend', target: phone.user_id } as const;
  expect((await support.plan(fields)).json.error).toMatchObject({
    code: 'refused',
    message: expect.stringContaining('no open code'),
  });
  const { challenge_id } = (
    await app.requestEmailChange(
      { current_password: password, new_email: `new-${other.email}` },
      { Authorization: `Bearer ${phone.access_token}` },
    )
  ).json.data;
  await makeResendDue(app, challenge_id);
  await app.collections.users.updateOne({ _id: phone.user_id }, { $set: { pending_email: other.email } });
  expect((await support.plan(fields)).json.error).toMatchObject({
    code: 'refused',
    message: expect.stringContaining('another account'),
  });
});

test('clearing the limits lets an account log in again from anywhere', async () => {
  const { email, user_id } = await newSession(app);
  const login = (given: string, host: number) =>
    app.logIn({ email, password: given }, { 'X-Forwarded-For': `198.51.100.${host}` });
  for (const host of [1, 2]) await login('wrong password', host);
  expect((await login(password, 3)).status).toBe(429);
  await done(support, { action: 'limits.clear', target: user_id });
  expect((await login(password, 4)).status).toBe(200);
  expect(linesAbout(user_id)).toMatchObject([
    { event: 'account.unlocked', operator: support.staff.subject },
    { event: 'console.action' },
  ]);
});

test('a void password lets nobody log in, closes the streams and is announced, and is not voided by a second click', async () => {
  const phone = await newSession(app);
  const stream = await app.openStream(phone);
  const fields = { action: 'password.void', target: phone.user_id } as const;
  const result = await done(support, fields);
  expect(await stream.closed).toMatchObject({ code: 4001 });
  expect((await app.logIn({ email: phone.email, password })).status).toBe(401);
  expect(await refusedAgain(support, fields, result)).toEqual([409, 'changed']);
  await eventually('it is announced', () => mailsTo(phone.email).some(({ subject }) => /password/i.test(subject)));
});

test('the removal of a second factor is ordered in 72 hours and announced, and can be stopped', async () => {
  const { user_id, email } = await guardedAccount(app);
  const fields = { action: 'factor_removal.order', target: user_id } as const;
  const before = Date.now();
  const result = await done(support, fields);
  expect(Date.parse(result.facts.due_at) - before).toBeGreaterThanOrEqual(72 * 3_600_000);
  expect((await stored(user_id))?.totp?.removal).toMatchObject({ by: 'staff' });
  const isAnnounced = async (purpose: string) => {
    const rows = await app.collections.outbox.find({ 'event.data.user_id': user_id }).sort({ _id: 1 }).toArray();
    const announced = rows.flatMap(({ event }) => ('purpose' in event.data ? [event.data.purpose] : []));
    expect(announced.at(-1)).toBe(purpose);
    await eventually(purpose, () => mailsTo(email).length === announced.length);
  };
  await isAnnounced('second_factor_removal_ordered');
  expect(await refusedAgain(support, fields, result)).toEqual([409, 'refused']);
  const stop = { action: 'factor_removal.stop', target: user_id } as const;
  await done(support, stop);
  expect((await stored(user_id))?.totp).not.toHaveProperty('removal');
  await isAnnounced('second_factor_removal_stopped');
  expect((await support.plan(stop)).status).toBe(409);
});

test('a revoked invite lets nobody join, and its token is in no answer', async () => {
  const owner = await newSession(app);
  const [token, kept] = [await newInvite(app, owner), await newInvite(app, owner)];
  const options = { group_id: owner.home_group_id };
  const fields = { action: 'invite.revoke', target: inviteRef(token), options } as const;
  const planned = await support.plan(fields);
  const result = await done(support, fields);
  expect(JSON.stringify([planned, result, app.audited()])).not.toContain(token);
  expect((await joinBy(app, token)).status).not.toBe(201);
  expect((await joinBy(app, kept)).status).toBe(201);
  expect(await refusedAgain(support, fields, result)).toEqual([409, 'refused']);
  const other = { ...fields, options: { group_id: randomUUID() } };
  expect((await support.plan(other)).status).toBe(404);
  expect((await support.plan({ ...fields, options: {} })).status).toBe(400);
  const line = app.audited().find(({ event }) => event === 'invite.revoked');
  expect(line).toMatchObject({
    invite_ref: fields.target,
    home_group_id: owner.home_group_id,
    operator: support.staff.subject,
  });
});

test('a deletion is ordered with its days, by default those of the configuration, and can be cancelled', async () => {
  const { user_id, email } = await newSession(app);
  const days = async () => Math.round((Number((await stored(user_id))?.deletes_at) - Date.now()) / 86_400_000);
  const order = { action: 'deletion.order', target: user_id } as const;
  expect((await operator.plan(order)).json.question).toContain('in 14 days');
  const result = await done(operator, { ...order, options: { grace_days: 3 } });
  expect([await days(), await live(user_id), result.facts.sessions]).toEqual([3, 0, 1]);
  expect(await refusedAgain(operator, order, result)).toEqual([409, 'refused']);
  await done(support, { action: 'deletion.cancel', target: user_id });
  expect((await stored(user_id))?.deletes_at).toBeUndefined();
  expect((await app.logIn({ email, password })).status).toBe(200);
});

test('removing sign-in methods removes those of the kind that was confirmed', async () => {
  const phone = await newSession(app);
  await addPasskey(app, phone);
  const fields = { action: 'methods.remove', target: phone.user_id, options: { only: 'passkeys' } } as const;
  const { json } = await operator.plan(fields);
  const others = await operator.act({ ...fields, options: {}, digest: json.digest });
  expect([others.status, others.json.error.code]).toEqual([409, 'changed']);
  const result = await done(operator, fields);
  expect([result.facts.passkeys, (await stored(phone.user_id))?.passkeys ?? []]).toEqual([1, []]);
});

test('a disabled account cannot log in until it is enabled, and says who disabled it', async () => {
  const { user_id, email } = await newSession(app);
  const disable = { action: 'account.disable', target: user_id } as const;
  const result = await done(operator, disable);
  expect((await app.logIn({ email, password })).status).toBe(403);
  expect(await stored(user_id)).toMatchObject({ disabled_by: operator.staff.subject, disabled_reason: 'ticket 7' });
  expect(await refusedAgain(operator, disable, result)).toEqual([409, 'refused']);
  await done(operator, { action: 'account.enable', target: user_id });
  expect((await app.logIn({ email, password })).status).toBe(200);
});

test('an export returns the data that is held about a person', async () => {
  const { user_id, email } = await newSession(app);
  const result = await done(operator, { action: 'account.export', target: user_id });
  expect(JSON.stringify(result.data)).toContain(email);
  expect(linesAbout(user_id).map(({ event }) => event)).toEqual(['account.exported', 'console.action']);
});

test('an event is sent again to a subscriber', async () => {
  const { user_id } = await newSession(app);
  const { id } = await billing.waitFor(user_id);
  await eventually('it is delivered', async () => (await app.stores.outbox.find(id))?.state === 'delivered');
  const fields = { action: 'event.replay', target: id, options: { subscriber: 'billing' } } as const;
  const another = await app.collections.outbox.findOne({ _id: { $ne: id } });
  const { digest } = (await operator.plan({ ...fields, target: another?._id ?? '' })).json;
  expect((await operator.act({ ...fields, digest })).json.error.code).toBe('changed');
  const result = await done(operator, fields);
  expect(result.facts).toMatchObject({ replayed: 1, deliveries: 1, skipped: 0 });
  await eventually('it arrives again', () => billing.ids().filter((one) => one === id).length === 2);
  expect((await operator.plan({ ...fields, target: randomUUID() })).status).toBe(404);
});

test('a dead letter is discarded once', async () => {
  const { user_id } = await newSession(app);
  const { id } = await billing.waitFor(user_id);
  const event = (await app.stores.outbox.find(id))?.event;
  const at = new Date();
  const dead = { subscriber: 'crm', at, outcome: 'given_up', status: 500, error: 'answered 500' } as const;
  if (event === undefined) throw new Error('there is no such event');
  await app.stores.deadLetters.add({ event, attempt: dead, attempts: 3, since: at, subscribers: ['crm'] as never });
  const fields = { action: 'dead_letter.discard', target: id, options: { subscriber: 'crm' } } as const;
  const result = await done(operator, fields);
  expect(await app.stores.deadLetters.find(id)).toEqual([]);
  expect(await refusedAgain(operator, fields, result)).toEqual([404, 'unknown']);
});

test('a subscriber is suspended, resumed and its events tried, each only if there is something to do', async () => {
  const of = (action: 'subscriber.suspend' | 'subscriber.resume' | 'subscriber.retry') => ({
    action,
    target: 'billing',
  });
  const suspended = await done(operator, of('subscriber.suspend'));
  expect(await refusedAgain(operator, of('subscriber.suspend'), suspended)).toEqual([409, 'refused']);
  expect((await operator.plan(of('subscriber.retry'))).status).toBe(409);
  const resumed = await done(operator, of('subscriber.resume'));
  expect(await refusedAgain(operator, of('subscriber.resume'), resumed)).toEqual([409, 'refused']);
  await done(operator, of('subscriber.retry'));
  expect((await operator.plan({ action: 'subscriber.suspend', target: 'nobody' })).status).toBe(404);
});

test('an action whose account changed since its question is refused, and nothing happens', async () => {
  const { user_id, email } = await newSession(app);
  const fields = { action: 'account.disable', target: user_id } as const;
  const { json } = await operator.plan(fields);
  await logIn(app, email);
  const { status, json: answer } = await operator.act({ ...fields, digest: json.digest });
  expect([status, answer.error.code]).toEqual([409, 'changed']);
  expect([await live(user_id), linesAbout(user_id)]).toEqual([2, []]);
});

test.each(['support', 'operator'])(
  'an email address as target or option of %s is refused, and not in the log',
  async (role) => {
    const { email } = await newSession(app);
    const by = role === 'support' ? support : operator;
    const asked: ActionFields[] = [
      { action: 'account.disable', target: email },
      { action: 'event.replay', target: 'x', options: { subscriber: email } },
      { action: 'invite.revoke', target: 'x', options: { group_id: email } },
    ];
    for (const fields of asked) {
      const answers = [await by.plan(fields), await by.act({ ...fields, digest: 'of nothing' })];
      expect(answers.map(({ status, json }) => [status, json.error.code])).toEqual(Array(2).fill([400, 'invalid']));
    }
    expect(JSON.stringify(app.lines)).not.toContain(email);
  },
);

test('the audit log says for each plan and each change at whom it looks, before it is answered', async () => {
  const { user_id } = await newSession(app);
  const fields = { action: 'account.disable', target: user_id } as const;
  await operator.plan(fields);
  await operator.act({ ...fields, digest: 'of nothing' });
  const named = app.lines.filter(({ target }) => JSON.stringify(target)?.includes(user_id));
  expect(named).toMatchObject([
    { event: 'console.looked_up', route: '/api/plans', target: fields, staff: operator.staff.subject },
    { event: 'console.change_asked', route: '/api/actions', target: fields, staff: operator.staff.subject },
  ]);
});

test('two clicks at the same time disable an account once', async () => {
  const { user_id } = await newSession(app);
  const fields = { action: 'account.disable', target: user_id } as const;
  const { digest } = (await operator.plan(fields)).json;
  const answers = await Promise.all([operator.act({ ...fields, digest }), operator.act({ ...fields, digest })]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(linesAbout(user_id).filter(({ event }) => event === 'account.disabled')).toHaveLength(1);
});

test('the metrics count actions by how they ended', async () => {
  const { user_id } = await newSession(app);
  const count = (outcome: string) => app.metric('auth_console_actions_total', { action: 'account.disable', outcome });
  const before = [await count('done'), await count('refused')];
  await done(operator, { action: 'account.disable', target: user_id });
  await support.act({ action: 'account.disable', target: user_id, digest: 'of nothing' });
  expect([await count('done'), await count('refused')]).toEqual(before.map((value) => value + 1));
});
