import type { listDeadLetters, listEvents, listSubscribers, showEvent } from '@auth-account/operations/events';
import type { Outcome } from '../../cli/shell.ts';
import { fieldList, table } from '../../cli/table.ts';

type ResultOf<F extends (...args: never) => unknown> = Awaited<ReturnType<F>>;

export function describeEvents(json: ResultOf<typeof listEvents>): Outcome {
  const rows = json.events.map((row) => [
    row.event_id,
    row.state,
    row.created_at,
    row.user_id,
    Object.keys(row.deliveries).join(' '),
    Object.keys(row.dead).join(' '),
    row.last_error,
  ]);
  const head = ['event', 'state', 'created', 'user', 'delivered to', 'dead letters', 'last error'];
  return { json, text: rows.length === 0 ? 'No events.' : table(head, rows) };
}

export function describeDeadLetters(json: ResultOf<typeof listDeadLetters>): Outcome {
  const rows = json.dead_letters.map((letter) => [
    letter.event_id,
    letter.subscriber,
    letter.given_up_at,
    letter.attempts,
    letter.last_error,
  ]);
  const head = ['event', 'subscriber', 'given up', 'attempts', 'last error'];
  return { json, text: rows.length === 0 ? 'No dead letters.' : table(head, rows) };
}

export function describeEvent(json: ResultOf<typeof showEvent>): Outcome {
  const { event, attempts, dead_letters: _, ...facts } = json;
  const { deliveries, dead: __, ...fields } = { deliveries: {}, dead: {}, ...facts };
  const sections = [fieldList({ ...fields, request_id: event.requestid }), ...deliveryTable(deliveries, attempts)];
  return { json, text: sections.join('\n\n') };
}

function deliveryTable(deliveries: Readonly<Record<string, Date>>, attempts: ResultOf<typeof showEvent>['attempts']) {
  const logged = new Set(attempts.filter(({ outcome }) => outcome === 'delivered').map(({ subscriber }) => subscriber));
  // If a subscriber consumes its own queue, its attempts are not known.
  const others = Object.entries(deliveries).filter(([subscriber]) => !logged.has(subscriber));
  const rows = [
    ...attempts.map((one) => [one.at, one.subscriber, one.outcome, one.status, one.duration_ms, one.error]),
    ...others.map(([subscriber, at]) => [at, subscriber, 'delivered', undefined, undefined, undefined]),
  ];
  return rows.length === 0 ? [] : [table(['at', 'subscriber', 'outcome', 'status', 'ms', 'error'], rows)];
}

export function describeSubscribers(json: ResultOf<typeof listSubscribers>): Outcome {
  const rows = json.subscribers.map((one) => [
    one.name,
    one.configured ? 'yes' : 'no',
    one.parked_at,
    one.parked_by_event,
    one.resumed_at,
    one.dead_letters,
  ]);
  const head = ['subscriber', 'configured', 'suspended', 'by event', 'resumed', 'dead letters'];
  const text = rows.length === 0 ? 'No worker has had a subscriber, and there are no dead letters.' : table(head, rows);
  return { json, text };
}
