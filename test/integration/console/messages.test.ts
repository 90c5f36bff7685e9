import { type MailSink, startMailSink } from '@auth-account/local-stack/mail-sink';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newSession, password, registerAccount } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { requestReset } from '../../support/api/codes.ts';
import { plansOf } from '../../support/stores/query-plans.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { commitEvent, newCodeRequest, newNotification } from '../../support/worker/worker-events.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { type Receiver, startReceiver, status } from '../../support/worker/worker-receiver.ts';
import { openReadingFixture, type ReadingFixture } from './reading-fixture.ts';

let fixture: ReadingFixture;
let sink: MailSink;
let hook: Receiver;
beforeAll(async () => {
  sink = await startMailSink(() => undefined);
  hook = await startReceiver('crm');
  const url = `smtp://127.0.0.1:${sink.port}`;
  const mail = { name: 'mail', kind: 'smtp', url, starttls: false, from: 'no-reply@kitchen.example' };
  fixture = await openReadingFixture({ EVENT_SUBSCRIBERS: JSON.stringify([mail, hook.subscriber]) });
});
afterAll(async () => {
  await fixture.close();
  await sink.stop();
  await hook.close();
});

interface Message {
  readonly event_id: string;
  readonly topic: string;
  readonly purpose: string;
  readonly request_id: string;
  readonly deliveries: readonly { readonly subscriber: string; readonly state: string; readonly attempts: number }[];
}

async function messagesOf(userId: string): Promise<Message[]> {
  const { status: answered, json } = await fixture.read(`/api/accounts/${userId}`);
  expect(answered).toBe(200);
  return json.messages.items;
}

/** Waits until the newest message is in that state at the subscriber, and returns its delivery. */
async function untilDelivery(userId: string, subscriber: string, state: string) {
  const find = async () => (await messagesOf(userId))[0]?.deliveries.find((each) => each.subscriber === subscriber);
  await eventually(`${subscriber} is ${state}`, async () => (await find())?.state === state);
  return find();
}

test('a mailed code names its purpose and request, and when the mail server and each webhook took it', async () => {
  const { email, user_id } = await registerAccount(fixture);
  await requestReset(fixture, email);
  const taken = { state: 'delivered', at: expect.stringMatching(/Z$/), attempts: 1, last_error: null };
  expect(await untilDelivery(user_id, 'mail', 'delivered')).toEqual({ subscriber: 'mail', ...taken });
  expect(await untilDelivery(user_id, 'crm', 'delivered')).toEqual({ subscriber: 'crm', ...taken });
  expect(await messagesOf(user_id)).toMatchObject([
    { topic: 'code_requested', purpose: 'password_reset', request_id: 'test-request-1' },
  ]);
});

test('a notification is a message too, and an event that is not mailed is none', async () => {
  const session = await newSession(fixture);
  const body = { current_password: password, new_password: 'another horse battery' };
  expect((await fixture.changePassword(body, bearer(session))).status).toBe(200);
  const messages = await messagesOf(session.user_id);
  expect(messages.map(({ topic, purpose }) => [topic, purpose])).toEqual([['notice', 'password_changed']]);
});

test('a message that a subscriber refuses waits, with the number of attempts and the last error', async () => {
  const { email, user_id } = await registerAccount(fixture);
  hook.answerWith(status(503));
  await requestReset(fixture, email);
  await eventually(
    'it was tried',
    async () =>
      (await messagesOf(user_id))[0]?.deliveries.some((each) => each.subscriber === 'crm' && each.attempts > 0) ===
      true,
  );
  expect(await untilDelivery(user_id, 'crm', 'waiting')).toMatchObject({
    at: null,
    last_error: expect.stringContaining('503'),
  });
  hook.answerWith(status(204));
});

test('a message that was given up and then discarded is told as each', async () => {
  const { user_id } = await registerAccount(fixture);
  const event = newNotification({ user_id });
  const at = new Date();
  await fixture.collections.outbox.insertOne({
    ...{ _id: event.id, topic: event.type, event, state: 'pending', created_at: at, attempts: 0 },
    ...{ deliveries: { mail: at }, locked_until: new Date(at.getTime() + 600_000) },
  });
  const attempt = { subscriber: 'crm', at, outcome: 'given_up', error: 'answered 503' } as const;
  const { deadLetters } = storesOf(fixture.collections);
  await deadLetters.add({ event, attempt, attempts: 40, since: at, subscribers: ['mail', 'crm'] });
  const given = { subscriber: 'crm', state: 'given_up', attempts: 40, last_error: 'answered 503' };
  expect(await untilDelivery(user_id, 'crm', 'given_up')).toMatchObject(given);
  await deadLetters.discard(event.id, 'crm', at);
  expect(await untilDelivery(user_id, 'crm', 'discarded')).toMatchObject({ at: expect.any(String) });
});

test('a code that nobody could use any more is told as expired', async () => {
  const { user_id } = await registerAccount(fixture);
  await commitEvent(fixture.mongo, fixture.db, newCodeRequest(new Date(Date.now() - 1_000), { user_id }));
  expect(await untilDelivery(user_id, 'mail', 'expired')).toMatchObject({ at: expect.any(String) });
});

test('a message to a subscriber whose deliveries are suspended says so', async () => {
  const { user_id } = await registerAccount(fixture);
  const { subscribers } = storesOf(fixture.collections);
  await subscribers.suspend('crm', { at: new Date(), eventId: 'operator' });
  await commitEvent(fixture.mongo, fixture.db, newNotification({ user_id }));
  expect(await untilDelivery(user_id, 'crm', 'suspended')).toMatchObject({ at: null });
  await subscribers.resume('crm', new Date());
});

test('an event shows each attempt, also after only its dead letter is left', async () => {
  const { email, user_id } = await registerAccount(fixture);
  await requestReset(fixture, email);
  await untilDelivery(user_id, 'mail', 'delivered');
  await untilDelivery(user_id, 'crm', 'delivered');
  const [message] = await messagesOf(user_id);
  const { json } = await fixture.read(`/api/events/${message?.event_id}`);
  expect(json).toMatchObject({ topic: 'code_requested', state: 'delivered', user_id, request_id: 'test-request-1' });
  expect(json.attempts).toHaveLength(2);
  expect(json.deliveries.map(({ state }: { readonly state: string }) => state)).toEqual(['delivered', 'delivered']);
  const letter = { created_at: new Date(), subscriber: 'gone', attempts: 3, last_error: 'no box anna@example.com' };
  const row = await fixture.collections.outbox.findOneAndDelete({ 'event.subject': user_id, topic: /code/ });
  const attempt = { subscriber: 'gone', at: letter.created_at, outcome: 'given_up' as const, error: letter.last_error };
  const times = { first_attempt_at: letter.created_at, last_attempt_at: letter.created_at };
  const kept = {
    ...letter,
    ...times,
    attempt_log: [attempt],
    event_id: message?.event_id ?? '',
    topic: row?.topic ?? '',
  };
  if (row) await fixture.collections.deadLetters.insertOne({ _id: `gone:${row._id}`, ...kept, event: row.event });
  const gone = await fixture.read(`/api/events/${message?.event_id}`);
  expect(gone.json).toMatchObject({ state: 'gone', user_id, deliveries: [{ subscriber: 'gone', state: 'given_up' }] });
  // A subscriber that consumes its own queue words its errors itself.
  const { text: listed } = await fixture.read('/api/dead-letters');
  expect(`${gone.text}${listed}`.match(/no box [^"]+/g)).toEqual(Array(3).fill('no box a…@e….com'));
  expect((await fixture.read(`/api/events/${user_id}`)).status).toBe(404);
});

test('messages come in parts of twenty, each once, by an index that reads no other account', async () => {
  const { user_id } = await registerAccount(fixture);
  const at = new Date();
  const rowOf = (user: string) => {
    const event = newNotification({ user_id: user });
    return {
      _id: event.id,
      topic: event.type,
      event,
      state: 'delivered' as const,
      created_at: at,
      locked_until: at,
      attempts: 1,
      deliveries: {},
      delivered_at: at,
    };
  };
  const rows = Array.from({ length: 45 }, () => rowOf(user_id));
  const others = Array.from({ length: 100 }, () => rowOf('somebody-else'));
  await fixture.collections.outbox.insertMany([...rows, ...others]);
  const read = async (after: string) => (await fixture.read(`/api/accounts/${user_id}/messages${after}`)).json;
  const first = await read('');
  const second = await read(`?after=${first.next}`);
  const third = await read(`?after=${second.next}`);
  expect([first, second, third].map(({ items }) => items.length)).toEqual([20, 20, 5]);
  const ids = [first, second, third].flatMap(({ items }) => items.map((each: Message) => each.event_id));
  expect([third.next, ids]).toEqual([
    null,
    rows
      .map(({ _id }) => _id)
      .sort()
      .reverse(),
  ]);
  const plans = await plansOf(fixture.monitored, fixture.db, () => read(`?after=${first.next}`));
  // Of the subscribers, which are few, all are read.
  expect(plans.filter(({ stages }) => stages.has('COLLSCAN') || stages.has('SORT'))).toMatchObject([{ examined: 2 }]);
  expect(Math.max(...plans.map(({ examined }) => examined))).toBe(21);
});
