import { type RegisteredEvent, registeredTopic } from '@auth-account/contracts';
import type { Collections, Stores } from '@auth-account/stores';
import type { DeadLetterDocument, DeliveryAttempt, OutboxDocument } from '@auth-account/stores/documents';
import type { TraceStep } from './trace-step.ts';

/** Finds the steps of a request that caused events: the writes of its transaction, and the deliveries of its events. */
export async function findEventSteps(
  { collections, stores }: { readonly collections: Collections; readonly stores: Pick<Stores, 'outbox'> },
  requestId: string,
): Promise<TraceStep[]> {
  const rows = await stores.outbox.findByRequest(requestId);
  return (await Promise.all(rows.map((row) => stepsOf(collections, row)))).flat();
}

async function stepsOf(collections: Collections, row: OutboxDocument): Promise<TraceStep[]> {
  const { event } = row;
  const [registered, letters] = await Promise.all([
    event.type === registeredTopic ? registrationSteps(collections, event, row.created_at) : [],
    collections.deadLetters.find({ event_id: row._id }).toArray(),
  ]);
  const appended: TraceStep = {
    at: row.created_at,
    what: 'outbox row written',
    facts: { event_id: row._id, topic: row.topic, state: row.state },
  };
  return [...registered, appended, ...deliverySteps(row), ...letters.map(toDeadLetterStep)];
}

async function registrationSteps(
  { users, groups }: Collections,
  { data: { user_id, home_group_id, is_new_group } }: RegisteredEvent,
  at: Date,
): Promise<TraceStep[]> {
  const [user, group] = await Promise.all([
    users.findOne({ _id: user_id }, { projection: { created_at: 1 } }),
    groups.findOne({ _id: home_group_id }, { projection: { account_type: 1 } }),
  ]);
  const what = is_new_group ? 'group created' : 'group joined';
  return [
    ...(user ? [{ at: user.created_at, what: 'account created', facts: { user_id } }] : []),
    { at, what, facts: { home_group_id, account_type: group?.account_type } },
  ];
}

function deliverySteps(row: OutboxDocument): TraceStep[] {
  const attempts = row.attempt_log ?? [];
  const event_id = row._id;
  const note = (what: string, times: Readonly<Record<string, Date>> | undefined) =>
    Object.entries(times ?? {}).map(([subscriber, at]): TraceStep => ({ at, what, facts: { subscriber, event_id } }));
  const logged = new Set(attempts.filter(({ outcome }) => outcome === 'delivered').map(({ subscriber }) => subscriber));
  return [
    ...attempts.map((attempt) => toAttemptStep(attempt, event_id)),
    // If a subscriber consumes its own queue, its attempts are not known.
    ...note('event delivered', row.deliveries).filter(({ facts }) => !logged.has(String(facts.subscriber))),
    ...note('event sent again by an operator', row.replays),
    ...note('event discarded by an operator', row.discarded),
  ];
}

function toAttemptStep(attempt: DeliveryAttempt, event_id: string): TraceStep {
  const { at, outcome, subscriber, status, duration_ms, error } = attempt;
  const what = {
    delivered: 'event delivered',
    failed: 'delivery failed',
    given_up: 'delivery given up',
    expired: 'event expired',
  }[outcome];
  return { at, what, facts: { subscriber, event_id, status, duration_ms, error } };
}

function toDeadLetterStep({ created_at, subscriber, event_id, attempts }: DeadLetterDocument): TraceStep {
  return { at: created_at, what: 'dead letter written', facts: { subscriber, event_id, attempts } };
}
