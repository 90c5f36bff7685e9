import { RegisteredEvent } from '@auth-account/contracts';
import { type AccountTopic, accountEvents } from '@auth-account/contracts/events';
import { expect, test } from '@jest/globals';
import { Compile } from 'typebox/schema';
import { createAccountEvent, createRegisteredEvent } from './create-events.ts';

const user_id = '0190a3b4-c5d6-7000-8000-000000000001';
const data = {
  user_id,
  home_group_id: '3f2f1c5e-8a58-4a53-9d0e-0d9a4b7a5c11',
  account_type: 'HOME',
  space_creation_mode: 'CREATE_NEW_HOME',
  is_new_group: true,
  registered_at: '2026-01-02T03:04:05.000Z',
} as const;
const origin = { id: '0190a3b4-c5d6-7000-8000-000000000002', requestId: 'request-1' };
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const envelope = {
  specversion: '1.0',
  id: origin.id,
  source: '/services/auth',
  type: 'service.auth.events.registered',
  subject: user_id,
  time: data.registered_at,
  datacontenttype: 'application/json',
  requestid: 'request-1',
  data,
};

test('a registration is a CloudEvent about the user, at the time of the registration', () => {
  const event = createRegisteredEvent(data, origin);
  expect(event).toEqual(envelope);
  expect(event).not.toHaveProperty('traceparent');
  expect(Compile(RegisteredEvent).Errors(event)).toEqual([true, []]);
});

test('a registration’s event is in the trace of its request, if that has one', () => {
  expect(createRegisteredEvent(data, { ...origin, traceparent })).toEqual({ ...envelope, traceparent });
});

test('an account event is a CloudEvent of its topic about the user, at the time of the change', () => {
  const at = new Date('2026-02-03T04:05:06.789Z');
  const verified = { user_id, verified_at: '2026-02-03T04:05:06.000Z' };
  const event = createAccountEvent('service.auth.events.email_verified', verified, { ...origin, traceparent, at });
  expect(event).toEqual({
    ...envelope,
    type: 'service.auth.events.email_verified',
    time: '2026-02-03T04:05:06.789Z',
    traceparent,
    data: verified,
  });
  expect(Compile(accountEvents['service.auth.events.email_verified']).Errors(event)).toEqual([true, []]);
});

test('an event that does not fit its topic is refused by the schema', () => {
  const topics = Object.keys(accountEvents) as AccountTopic[];
  const event = createAccountEvent(
    'service.auth.events.deleted',
    { user_id, home_group_id: data.home_group_id, deleted_at: data.registered_at },
    { ...origin, at: new Date() },
  );
  const fitting = topics.filter((topic) => Compile(accountEvents[topic]).Check(event));
  expect(fitting).toEqual(['service.auth.events.deleted']);
});
