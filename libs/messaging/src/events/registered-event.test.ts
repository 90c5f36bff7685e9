import { expect, test } from '@jest/globals';
import { createRegisteredEvent } from './registered-event.ts';

const data = {
  user_id: '0190a3b4-c5d6-7000-8000-000000000001',
  home_group_id: '3f2f1c5e-8a58-4a53-9d0e-0d9a4b7a5c11',
  account_type: 'HOME',
  space_creation_mode: 'CREATE_NEW_HOME',
  is_new_group: true,
  registered_at: '2026-01-02T03:04:05.000Z',
} as const;
const origin = { id: '0190a3b4-c5d6-7000-8000-000000000002', requestId: 'request-1' };
const envelope = {
  specversion: '1.0',
  id: origin.id,
  source: '/services/auth',
  type: 'service.auth.events.registered',
  subject: data.user_id,
  time: data.registered_at,
  datacontenttype: 'application/json',
  requestid: 'request-1',
  data,
};

test('a registration is a CloudEvent about the user, at the time of the registration', () => {
  expect(createRegisteredEvent(data, origin)).toEqual(envelope);
  expect(createRegisteredEvent(data, origin)).not.toHaveProperty('traceparent');
});

test('it is in the trace of its request, where that has one', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  expect(createRegisteredEvent(data, { ...origin, traceparent })).toEqual({ ...envelope, traceparent });
});

test('what would be no CloudEvent is refused', () => {
  expect(() => createRegisteredEvent({ ...data, registered_at: 'yesterday' }, origin)).toThrow();
});
