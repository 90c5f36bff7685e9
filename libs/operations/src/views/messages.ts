import { mailTopics } from '@auth-account/contracts/events';
import type { OutboxDocument } from '@auth-account/stores/documents';
import type { Mongo } from '../context.ts';
import { createDeliveriesOf } from './deliveries.ts';
import { cursorAt, pageSize, placeOf } from './pages.ts';

const eventId = /^[0-9a-f-]{36}$/;

/** Returns an event's topic without the prefix that all topics have. */
export const shortTopic = (topic: string): string => topic.replace('service.auth.events.', '');

/**
 * Lists the codes and notifications that were to be mailed to the account's holder, newest first, with what became of
 * them. Delivered ones are kept for some days. Throws an `OperationError` of the kind `invalid` for a wrong cursor.
 */
export async function listMessages(mongo: Pick<Mongo, 'collections' | 'stores'>, userId: string, after?: string) {
  const older = after === undefined ? {} : { _id: { $lt: placeOf(after, eventId) } };
  const rows = await mongo.collections.outbox
    .find({ 'event.subject': userId, ...older, topic: { $in: [...mailTopics] } })
    .sort({ _id: -1 })
    .limit(pageSize + 1)
    .toArray();
  const shown = rows.slice(0, pageSize);
  const deliveriesOf = await createDeliveriesOf(
    mongo,
    shown.map(({ _id }) => _id),
  );
  const items = shown.map((row) => ({
    event_id: row._id,
    topic: shortTopic(row.topic),
    purpose: purposeOf(row),
    at: row.created_at,
    request_id: row.event.requestid,
    deliveries: deliveriesOf(row),
  }));
  const last = shown.at(-1);
  return { items, next: rows.length > shown.length && last !== undefined ? cursorAt(last._id) : null };
}

function purposeOf({ event: { data } }: Pick<OutboxDocument, 'event'>): string | null {
  return 'purpose' in data ? data.purpose : null;
}
