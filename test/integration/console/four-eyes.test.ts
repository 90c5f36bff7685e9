import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createConsentStore } from '../../../services/console/src/actions/consent-store.ts';
import { newSession } from '../../support/api/accounts.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { type Client, openStaffApp, type StaffApp } from './staff-app.ts';

let app: StaffApp;
let asker: Client;
let other: Client;
beforeAll(async () => {
  app = await openStaffApp(['password.void', 'account.disable', 'limits.clear']);
  asker = await app.hire('operator');
  other = await app.hire('operator');
});
afterAll(() => app.close());

const live = (user_id: string) => app.collections.sessions.countDocuments({ user_id, is_revoked: false });
const give = (by: Client, { consent_id, digest }: { consent_id: string; digest: string }) =>
  by.send(`/api/consents/${consent_id}/give`, { digest }, 'I have seen the ticket');
const refuse = (by: Client, { consent_id }: { consent_id: string }) => by.send(`/api/consents/${consent_id}/refuse`);
const show = (by: Client, { consent_id }: { consent_id: string }) => by.get(`/api/consents/${consent_id}`);
const errorOf = ({ status, json }: { status: number; json: { error?: { code: string } } }) => [
  status,
  json.error?.code,
];

/** Asks to void the password of a new account. */
async function ask(by = asker) {
  const phone = await newSession(app);
  const { status, json } = await by.confirm({ action: 'password.void', target: phone.user_id });
  expect([status, json.state]).toEqual([200, 'waiting']);
  return { ...phone, consent: json.consent };
}

test('an action that needs consent waits until another person gives it, and then runs in the name of the one who asked', async () => {
  const { consent, user_id, email } = await ask();
  expect(consent).toMatchObject({
    ...{ action: 'password.void', target: user_id, options: {}, reason: 'ticket 7', state: 'waiting', is_own: true },
    ...{ asked_by: asker.staff.name, question: expect.stringContaining(email) },
  });
  expect(Date.parse(consent.expires_at) - Date.parse(consent.asked_at)).toBe(3_600_000);
  expect(await live(user_id)).toBe(1);
  const { json: seen } = await show(other, consent);
  expect(seen).toEqual({ ...consent, is_own: false });
  const given = await give(other, seen);
  expect([given.status, given.json.state, given.json.facts.sessions]).toEqual([200, 'done', 1]);
  expect(await live(user_id)).toBe(0);
  const lines = app.audited().filter((line) => line.user_id === user_id || line.target === user_id);
  const consented = { consent_id: consent.consent_id, consented_by: other.staff.subject };
  const operator = { operator: asker.staff.subject, operator_name: asker.staff.name };
  expect(lines).toMatchObject([
    { event: 'console.action', outcome: 'waiting', consent_id: consent.consent_id, staff: asker.staff.subject },
    { event: 'account.password_voided', ...operator, operator_reason: 'ticket 7', ...consented },
    { event: 'session.revoked', ...operator, ...consented },
    { event: 'console.action', outcome: 'success', ...consented, asked_by: asker.staff.subject },
  ]);
  expect((await show(asker, consent)).json).toMatchObject({ state: 'given', question: '', digest: '' });
});

test('nobody consents to an action of their own, in another session or role either', async () => {
  const self = await app.hire('operator');
  const { consent, user_id } = await ask(self);
  for (const role of ['operator', 'support'] as const) {
    const again = await app.hire(role, self.staff.subject);
    expect(errorOf(await give(again, consent))).toEqual([403, 'forbidden']);
  }
  expect(errorOf(await give(self, consent))).toEqual([403, 'forbidden']);
  expect(await live(user_id)).toBe(1);
});

test('a consent is given only once', async () => {
  const { consent } = await ask();
  expect((await give(other, consent)).status).toBe(200);
  expect(errorOf(await give(other, consent))).toEqual([409, 'refused']);
  expect(errorOf(await refuse(other, consent))).toEqual([409, 'refused']);
});

test('two consents at the same time carry the action out once', async () => {
  const { user_id } = await newSession(app);
  // Nothing else keeps this action from running twice.
  const { consent } = (await asker.confirm({ action: 'limits.clear', target: user_id })).json;
  const third = await app.hire('support');
  const answers = await Promise.all([other, third, other, third].map((by) => give(by, consent)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  const done = app.audited().filter((line) => line.event === 'account.unlocked' && line.user_id === user_id);
  expect(done).toHaveLength(1);
});

test('a consent counts for what its giver was shown, and no login in between prevents it for good', async () => {
  const { consent, user_id } = await ask();
  await app.collections.users.updateOne({ _id: user_id }, { $set: { last_login_at: new Date(0) } });
  expect(errorOf(await give(other, consent))).toEqual([409, 'changed']);
  expect(errorOf(await give(other, { ...consent, digest: 'another' }))).toEqual([409, 'changed']);
  expect(await live(user_id)).toBe(1);
  const { json: seen } = await show(other, consent);
  expect(seen.question).toContain(new Date(0).toISOString());
  expect((await give(other, seen)).json.state).toBe('done');
  expect(await live(user_id)).toBe(0);
});

test.each<[string, (by: Client, subject: string) => unknown]>([
  ['has signed out', (by) => by.send('/sign-out')],
  ['has lost the right to it', (_, subject) => app.hire('viewer', subject)],
])('an action does not run if the person who asked for it %s', async (_, leave) => {
  const leaver = await app.hire('support');
  const { consent, user_id } = await ask(leaver);
  await leave(leaver, leaver.staff.subject);
  await eventually('the provider is asked again', async () => {
    const { json } = await leaver.get('/api/me');
    return json.role !== 'support';
  });
  expect(errorOf(await give(other, consent))).toEqual([409, 'refused']);
  expect(await live(user_id)).toBe(1);
  const again = await app.hire('operator', leaver.staff.subject);
  expect((await ask(again)).consent.state).toBe('waiting');
});

test('a consent that nobody has given in an hour is gone', async () => {
  const { consent, user_id } = await ask();
  const key = `{${app.keyPrefix}}:console:consent:${consent.consent_id}`;
  const ttl = await app.redis.pttl(key);
  expect([ttl > 3_500_000, ttl <= 3_600_000]).toEqual([true, true]);
  await app.redis.pexpire(key, 1);
  await eventually('the consent is gone', async () => (await show(other, consent)).status === 404);
  expect(errorOf(await give(other, consent))).toEqual([404, 'unknown']);
  const { json: list } = await other.get('/api/consents');
  expect(list.map((one: typeof consent) => one.consent_id)).not.toContain(consent.consent_id);
  expect(await live(user_id)).toBe(1);
});

test('somebody whose role lacks the right to an action sees that it waits, but neither its question nor gives or refuses it', async () => {
  const { user_id } = await newSession(app);
  const { json } = await asker.confirm({ action: 'account.disable', target: user_id });
  const support = await app.hire('support');
  expect((await show(support, json.consent)).json).toMatchObject({
    action: 'account.disable',
    question: '',
    digest: '',
  });
  expect(errorOf(await give(support, json.consent))).toEqual([403, 'forbidden']);
  expect(errorOf(await refuse(support, json.consent))).toEqual([403, 'forbidden']);
  const viewer = await app.hire('viewer');
  expect((await show(viewer, json.consent)).json).toMatchObject({ state: 'waiting', question: '' });
  expect(errorOf(await give(viewer, json.consent))).toEqual([403, 'forbidden']);
});

test.each(['asker', 'other'])('the %s can refuse an action, which then cannot be consented to', async (who) => {
  const { consent, user_id } = await ask();
  const refused = await refuse(who === 'asker' ? asker : other, consent);
  expect(refused).toMatchObject({ status: 200, json: { state: 'refused', consent_id: consent.consent_id } });
  expect(errorOf(await give(other, consent))).toEqual([409, 'refused']);
  expect((await show(other, consent)).json).toMatchObject({ state: 'refused', question: '' });
  expect(await live(user_id)).toBe(1);
});

test('the list of waiting consents has the oldest first, without questions, and a second click adds nothing', async () => {
  const first = await ask();
  const fields = { action: 'password.void', target: first.user_id } as const;
  const again = await asker.confirm(fields);
  expect(again.json.consent.consent_id).toBe(first.consent.consent_id);
  const second = await ask(other);
  const { json: list } = await other.get('/api/consents');
  const [one, two] = list.slice(-2);
  expect([one.consent_id, two.consent_id]).toEqual([first.consent.consent_id, second.consent.consent_id]);
  expect([one, two]).toMatchObject([
    { question: '', digest: '', is_own: false },
    { question: '', is_own: true },
  ]);
});

test('what is stored of a waiting consent has no email address', async () => {
  const { consent, email } = await ask();
  const stored = await app.redis.get(`{${app.keyPrefix}}:console:consent:${consent.consent_id}`);
  expect(stored).toContain(consent.digest);
  expect(stored).not.toContain(email.slice(0, 12));
});

test('no more than fifty actions wait at the same time', async () => {
  const full = { redis: app.redis, keys: app.keys, keyPrefix: `${app.keyPrefix}-full` };
  const consents = createConsentStore((work) => work(full), Date.now);
  const asked = (digest: string) => {
    const asker = { subject: 'olga', name: 'Olga' };
    return consents.ask({ action: 'password.void', target: 'u', options: {}, digest, reason: 'r', asker });
  };
  for (let index = 0; index < 50; index += 1) await asked(String(index));
  expect((await asked('7')).digest).toBe('7');
  await expect(asked('another')).rejects.toMatchObject({ kind: 'refused' });
  const [first] = await consents.list();
  await consents.settle(first?.id ?? '', 'refused');
  expect((await asked('another')).digest).toBe('another');
  expect(await consents.list()).toHaveLength(50);
});
