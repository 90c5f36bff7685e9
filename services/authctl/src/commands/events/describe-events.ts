import type { Stores } from '@auth-account/stores';
import type { DeadLetterDocument, DeliveryAttempt, OutboxDocument } from '@auth-account/stores/documents';
import { CommandError } from '../../cli/command-error.ts';
import type { Outcome } from '../../cli/shell.ts';
import { fieldList, table } from '../../cli/table.ts';
import { type EventSelection, selectDeadLetters, selectRows, take } from './select-events.ts';

/** Lists outbox rows, oldest first. */
export async function listEvents(stores: Stores, selection: EventSelection, limit: number): Promise<Outcome> {
  const events = (await take(selectRows(stores, selection), limit)).map(toRow);
  const rows = events.map((row) => [
    row.event_id,
    row.state,
    row.created_at,
    row.user_id,
    Object.keys(row.deliveries).join(' '),
    Object.keys(row.dead).join(' '),
    row.last_error,
  ]);
  const head = ['event', 'state', 'created', 'user', 'delivered to', 'dead letters', 'last error'];
  return { json: { events }, text: rows.length === 0 ? 'No events.' : table(head, rows) };
}

/** Lists dead letters, oldest first. */
export async function listDeadLetters(
  stores: Stores,
  selection: Omit<EventSelection, 'state'>,
  limit: number,
): Promise<Outcome> {
  const dead_letters = (await take(selectDeadLetters(stores, selection), limit)).map(toLetter);
  const rows = dead_letters.map((letter) => [
    letter.event_id,
    letter.subscriber,
    letter.given_up_at,
    letter.attempts,
    letter.last_error,
  ]);
  const head = ['event', 'subscriber', 'given up', 'attempts', 'last error'];
  return { json: { dead_letters }, text: rows.length === 0 ? 'No dead letters.' : table(head, rows) };
}

/** Shows one event: its row, the known attempts, its dead letters. Throws a `CommandError` if it does not exist. */
export async function showEvent({ outbox, deadLetters }: Stores, eventId: string): Promise<Outcome> {
  const [row, letters] = await Promise.all([outbox.find(eventId), deadLetters.find(eventId)]);
  const event = row?.event ?? letters[0]?.event;
  if (event === undefined)
    throw new CommandError(`There is no event ${eventId}. Delivered events are removed after some days.`);
  const attempts = row?.attempt_log ?? letters.flatMap(({ attempt_log }) => attempt_log);
  const facts = row ? toRow(row) : { event_id: eventId, state: 'gone' };
  const json = { ...facts, event, attempts, dead_letters: letters.map(toLetter) };
  const { deliveries: _, dead: __, ...fields } = { deliveries: {}, dead: {}, ...facts };
  const sections = [fieldList({ ...fields, request_id: event.requestid }), ...deliveryTable(row, attempts)];
  return { json, text: sections.join('\n\n') };
}

function deliveryTable(row: OutboxDocument | undefined, attempts: readonly DeliveryAttempt[]): string[] {
  const logged = new Set(attempts.filter(({ outcome }) => outcome === 'delivered').map(({ subscriber }) => subscriber));
  // If a subscriber consumes its own queue, its attempts are not known.
  const others = Object.entries(row?.deliveries ?? {}).filter(([subscriber]) => !logged.has(subscriber));
  const rows = [
    ...attempts.map((one) => [one.at, one.subscriber, one.outcome, one.status, one.duration_ms, one.error]),
    ...others.map(([subscriber, at]) => [at, subscriber, 'delivered', undefined, undefined, undefined]),
  ];
  return rows.length === 0 ? [] : [table(['at', 'subscriber', 'outcome', 'status', 'ms', 'error'], rows)];
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
