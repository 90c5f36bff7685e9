import type { Stores } from '@auth-account/stores';
import type { DeadLetterDocument, OutboxDocument } from '@auth-account/stores/documents';
import { OperationError } from '../operation-error.ts';
import { type EventSelection, selectDeadLetters, selectRows, take } from './select-events.ts';

/** Lists outbox rows, oldest first. */
export async function listEvents(stores: Stores, selection: EventSelection, limit: number) {
  return { events: (await take(selectRows(stores, selection), limit)).map(toRow) };
}

/** Lists dead letters, oldest first. The selection's state does not matter. */
export async function listDeadLetters(stores: Stores, { state: _, ...selection }: EventSelection, limit: number) {
  return { dead_letters: (await take(selectDeadLetters(stores, selection), limit)).map(toLetter) };
}

/**
 * Returns one event: its row, the known attempts, its dead letters. If a subscriber consumes its own queue, its attempts
 * are not known. Throws an `OperationError` of the kind `unknown` if the event does not exist.
 */
export async function showEvent(stores: Stores, eventId: string) {
  const { row, letters, event, attempts } = await loadEvent(stores, eventId);
  const facts = row ? toRow(row) : { event_id: eventId, state: 'gone' as const };
  return { ...facts, event, attempts, dead_letters: letters.map(toLetter) };
}

/** Reads an event with its dead letters. Throws what `showEvent` throws. */
export async function loadEvent({ outbox, deadLetters }: Pick<Stores, 'outbox' | 'deadLetters'>, eventId: string) {
  const [row, letters] = await Promise.all([outbox.find(eventId), deadLetters.find(eventId)]);
  const event = row?.event ?? letters[0]?.event;
  if (event === undefined)
    throw new OperationError('unknown', `There is no event ${eventId}. Delivered events are removed after some days.`);
  const attempts = row?.attempt_log ?? letters.flatMap(({ attempt_log }) => attempt_log);
  return { row, letters, event, attempts };
}

function toRow(row: OutboxDocument) {
  return {
    event_id: row._id,
    topic: row.topic,
    state: row.state,
    user_id: row.event.subject,
    request_id: row.event.requestid,
    created_at: row.created_at,
    delivered_at: row.delivered_at ?? null,
    relay_attempts: row.attempts,
    last_error: row.last_error ?? null,
    deliveries: row.deliveries,
    dead: row.dead ?? {},
  };
}

function toLetter(letter: DeadLetterDocument) {
  const { event_id, subscriber, attempts, last_error, first_attempt_at, last_attempt_at, created_at } = letter;
  return { event_id, subscriber, attempts, last_error, first_attempt_at, last_attempt_at, given_up_at: created_at };
}
