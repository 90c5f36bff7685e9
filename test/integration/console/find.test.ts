import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newEmail, newSession } from '../../support/api/accounts.ts';
import { newNotification } from '../../support/worker/worker-events.ts';
import { openReadingFixture, type ReadingFixture } from './reading-fixture.ts';

let fixture: ReadingFixture;
beforeAll(async () => {
  fixture = await openReadingFixture();
});
afterAll(() => fixture.close());

const find = async (text: string) => {
  const { status, json } = await fixture.post('/api/find', { text });
  return status === 200 ? json : json.error.code;
};

test('an account is found by its email address in any spelling and by its id', async () => {
  const { email, user_id } = await newSession(fixture);
  const account = { kind: 'account', path: `/accounts/${user_id}` };
  expect(await find(email)).toEqual(account);
  expect(await find(` ${email.toUpperCase()}\u200b`)).toEqual(account);
  expect(await find(user_id)).toEqual(account);
  expect(await find(user_id.toUpperCase())).toEqual(account);
});

test('a session, a group and an event are found by their ids', async () => {
  const { session_id, user_id, home_group_id } = await newSession(fixture);
  const event = await fixture.collections.outbox.findOne({ 'event.subject': user_id });
  expect(await find(session_id)).toEqual({ kind: 'session', path: `/accounts/${user_id}?session=${session_id}` });
  expect(await find(home_group_id)).toEqual({ kind: 'group', path: `/groups/${home_group_id}` });
  expect(await find(event?._id ?? '')).toEqual({ kind: 'event', path: `/events/${event?._id}` });
});

test('a request is found by its id, whether it has caused an event or only ended a session', async () => {
  const { user_id, refresh_token, access_token } = await newSession(fixture);
  const registration = await fixture.collections.outbox.findOne({ 'event.subject': user_id });
  const requestId = registration?.event.requestid ?? '';
  expect(await find(requestId)).toEqual({ kind: 'request', path: `/requests/${encodeURIComponent(requestId)}` });
  const odd = `logout/${randomUUID()}`;
  const headers = { Authorization: `Bearer ${access_token}`, 'X-Request-ID': odd };
  expect((await fixture.logOut({ refresh_token }, headers)).status).toBe(200);
  expect(await find(odd)).toEqual({ kind: 'request', path: `/requests/${encodeURIComponent(odd)}` });
  const trace = await fixture.read(`/api/requests/${encodeURIComponent(odd)}`);
  expect(trace.json.steps.map(({ what }: { readonly what: string }) => what)).toContain('session revoked');
});

test.each([newEmail(), newNotification().id, randomUUID(), 'no-such-request', 'not any name', '{"$gt":""}', '%'])(
  'a text that names nothing is unknown: %s',
  async (text) => {
    expect(await find(text)).toBe('unknown');
  },
);

test('the audit log says which account was found, and has no email address', async () => {
  const { email, user_id } = await newSession(fixture);
  await find(email);
  expect(fixture.audited.at(-1)).toEqual({ event: 'console.found', kind: 'account', user_id });
  expect(JSON.stringify(fixture.audited)).not.toContain('@');
});
