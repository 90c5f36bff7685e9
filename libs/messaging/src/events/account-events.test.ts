import { accountEvents } from '@auth-account/contracts/events';
import { expect, test } from '@jest/globals';
import { Compile } from 'typebox/schema';
import {
  deletionCancelledEvents,
  deletionScheduledEvents,
  passkeyAddedEvents,
  passkeyRemovedEvents,
  passwordChangedEvents,
  removalOrderedNotification,
} from './account-events.ts';
import { eventOrigin } from './create-events.ts';

const user_id = '0190a3b4-c5d6-7000-8000-000000000001';
const at = new Date('2026-02-03T04:05:06.789Z');
const deletesAt = new Date('2026-02-17T04:05:06.789Z');
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const request = { requestId: 'request-1', traceparent };

/** Returns the function that creates origins for the events of one change, with ids that count up. */
function origins() {
  let last = 1;
  const entityId = () => {
    last += 1;
    return `0190a3b4-c5d6-7000-8000-00000000000${last}`;
  };
  return () => eventOrigin(request, at, { entityId });
}

test('the origin of an event has a new id, and the request and the time of the change', () => {
  const next = origins();
  const first = { id: '0190a3b4-c5d6-7000-8000-000000000002', requestId: 'request-1', traceparent, at };
  expect([next(), next()]).toEqual([first, { ...first, id: '0190a3b4-c5d6-7000-8000-000000000003' }]);
});

const time = at.toISOString();
const deletes_at = deletesAt.toISOString();

test.each([
  [
    'a new passkey',
    () => passkeyAddedEvents({ user_id, passkey_id: user_id, locale: 'ru' }, origins()),
    [
      ['service.auth.events.passkey_added', { user_id, passkey_id: user_id, added_at: time }],
      ['service.auth.events.notice', { user_id, purpose: 'passkey_added', locale: 'ru' }],
    ],
  ],
  [
    'a removed passkey',
    () => passkeyRemovedEvents({ user_id, passkey_id: user_id, locale: 'en' }, origins()),
    [
      ['service.auth.events.passkey_removed', { user_id, passkey_id: user_id, removed_at: time }],
      ['service.auth.events.notice', { user_id, purpose: 'passkey_removed', locale: 'en' }],
    ],
  ],
  [
    'an ordered removal of the second factor',
    () => [
      removalOrderedNotification({ user_id, removal: { id: user_id, due_at: deletesAt }, locale: 'ru' }, origins()()),
    ],
    [
      [
        'service.auth.events.notice',
        {
          ...{ user_id, purpose: 'second_factor_removal_ordered', locale: 'ru' },
          ...{ removal_id: user_id, due_at: deletes_at },
        },
      ],
    ],
  ],
  [
    'a change of the password',
    () => passwordChangedEvents({ user_id, reason: 'operator', locale: 'ru' }, origins()),
    [
      ['service.auth.events.password_changed', { user_id, changed_at: time, reason: 'operator' }],
      ['service.auth.events.notice', { user_id, purpose: 'password_changed', locale: 'ru' }],
    ],
  ],
  [
    'a recovery of the account',
    () => passwordChangedEvents({ user_id, reason: 'reset', locale: 'en', invites_revoked: 0 }, origins()),
    [
      ['service.auth.events.password_changed', { user_id, changed_at: time, reason: 'reset' }],
      ['service.auth.events.notice', { user_id, purpose: 'password_changed', locale: 'en', invites_revoked: 0 }],
    ],
  ],
  [
    'an order to delete the account',
    () => deletionScheduledEvents({ user_id, deletesAt, locale: 'en' }, origins()),
    [
      ['service.auth.events.deletion_scheduled', { user_id, scheduled_at: time, deletes_at }],
      ['service.auth.events.notice', { user_id, purpose: 'deletion_scheduled', locale: 'en', deletes_at }],
    ],
  ],
  [
    'a deletion that was cancelled',
    () => deletionCancelledEvents({ user_id, locale: 'ru' }, origins()),
    [
      ['service.auth.events.deletion_cancelled', { user_id, cancelled_at: time }],
      ['service.auth.events.notice', { user_id, purpose: 'deletion_cancelled', locale: 'ru' }],
    ],
  ],
])('the change %s is in its events, each with an id of its own', (_case, create, expected) => {
  const events = create();
  expect(events.map(({ type, data }) => [type, data])).toEqual(expected);
  expect(new Set(events.map(({ id }) => id)).size).toBe(expected.length);
  for (const event of events) {
    expect(event).toMatchObject({ subject: user_id, time, requestid: 'request-1', traceparent });
    expect(Compile(accountEvents[event.type]).Errors(event)).toEqual([true, []]);
  }
});
