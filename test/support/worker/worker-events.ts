import { randomUUID } from 'node:crypto';
import type { RegisteredEvent } from '@auth-account/contracts';
import type { AccountEventOf, AuthEvent } from '@auth-account/contracts/events';
import { createAccountEvent, createRegisteredEvent } from '@auth-account/messaging';
import { collectionsOf } from '@auth-account/stores';
import type { OutboxDocument } from '@auth-account/stores/documents';
import type { Db, MongoClient } from 'mongodb';
import { createIds } from '../../../services/api/src/request/ids.ts';
import { storesOf } from '../stores/stores-of.ts';

const ids = createIds(Date.now);

/** Returns a registration event as the api creates it, of a new user. */
export function newEvent(): RegisteredEvent {
  const data = {
    user_id: randomUUID(),
    home_group_id: randomUUID(),
    account_type: 'HOME',
    space_creation_mode: 'CREATE_NEW_HOME',
    is_new_group: true,
    registered_at: new Date().toISOString(),
  } as const;
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  return createRegisteredEvent(data, { id: ids.entityId(), requestId: `request-${randomUUID()}`, traceparent });
}

/** Returns a request to mail a code to a user, by default to a new user. The code is valid until `expiresAt`. */
export function newCodeRequest(
  expiresAt = new Date(Date.now() + 600_000),
  fields: Partial<AccountEventOf<'service.auth.events.code_requested'>['data']> = {},
): AccountEventOf<'service.auth.events.code_requested'> {
  const data = {
    challenge_id: randomUUID(),
    user_id: randomUUID(),
    purpose: 'password_reset',
    locale: 'en',
    expires_at: expiresAt.toISOString(),
    ...fields,
  } as const;
  return createAccountEvent('service.auth.events.code_requested', data, newAccountOrigin());
}

/** Returns the event of an account's erasure. */
export function newDeletedEvent(): AccountEventOf<'service.auth.events.deleted'> {
  const data = { user_id: randomUUID(), home_group_id: randomUUID(), deleted_at: new Date().toISOString() };
  return createAccountEvent('service.auth.events.deleted', data, newAccountOrigin());
}

/** Returns a notification to a user, by default of a new device, in English. */
export function newNotification(
  fields: Partial<AccountEventOf<'service.auth.events.notice'>['data']> = {},
): AccountEventOf<'service.auth.events.notice'> {
  const data = { user_id: randomUUID(), purpose: 'new_device', locale: 'en', ...fields } as const;
  return createAccountEvent('service.auth.events.notice', data, newAccountOrigin());
}

/** Returns the origin of an account event that happens now. */
function newAccountOrigin() {
  return { id: ids.entityId(), requestId: `request-${randomUUID()}`, at: new Date() };
}

/** Commits the event's outbox row, as a registration at the time `at` does. */
export async function commitEvent(mongo: MongoClient, db: Db, event: AuthEvent, at = new Date()): Promise<void> {
  const outbox = storesOf(collectionsOf(db)).outbox;
  await mongo.withSession((session) => session.withTransaction(() => outbox.append(event, at, session)));
}

/**
 * Returns the outbox row of an event, by default of a new registration. The row was committed a minute ago and not
 * published, so it is due for the relay.
 */
export function dueRow(fields: Partial<OutboxDocument> = {}): OutboxDocument {
  const event = fields.event ?? newEvent();
  const at = longAgo();
  return {
    _id: event.id,
    topic: event.type,
    event,
    state: 'pending',
    created_at: at,
    locked_until: at,
    attempts: 0,
    deliveries: {},
    ...fields,
  };
}

/** Returns a commit time so old that the row is due for the relay. */
export function longAgo(): Date {
  return new Date(Date.now() - 60_000);
}
