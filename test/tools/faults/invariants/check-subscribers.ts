import { type RegisteredEvent, registeredTopic } from '@auth-account/contracts';
import type { Registration } from '../load/ledger.ts';
import { type Evidence, isForNobody } from './evidence.ts';

type Subscriber = Evidence['subscribers'][number];

/**
 * Checks that each subscriber has every event of the outbox, and no other. Each user's registration must have exactly
 * one event (repeated deliveries of its id aside), which says the same as the answer that the app got. Returns the
 * number of repeated deliveries.
 */
export function checkSubscribers(evidence: Evidence): number {
  for (const subscriber of evidence.subscribers) {
    checkArrivals(subscriber, evidence);
    checkRegistered(subscriber, evidence);
  }
  return evidence.subscribers.reduce((sum, { repeated }) => sum + repeated, 0);
}

/** Checks that every event arrives, that nothing else does, and that only a subscriber with a key receives secrets. */
function checkArrivals({ name, events, hasKey }: Subscriber, { history, rows }: Evidence): void {
  const written = new Map(rows.map((row) => [row._id, row]));
  for (const [id, event] of events) {
    const row = written.get(id);
    const detail = { subscriber: name, id, type: event.type };
    if (row === undefined) history.violate('a subscriber was notified of what has not happened', detail);
    else if (isForNobody(row)) history.violate('an event for nobody was delivered', detail);
    if (!hasKey && 'secret' in event.data) history.violate('a subscriber without a key has a secret', detail);
  }
  for (const row of rows) {
    const isMissing = !events.has(row._id) && !isForNobody(row) && row.discarded?.[name] === undefined;
    if (isMissing) history.violate('an event has not arrived', { subscriber: name, id: row._id, type: row.event.type });
  }
}

function checkRegistered({ name, events }: Subscriber, evidence: Evidence): void {
  const { ledger, history, users, erased } = evidence;
  const registrations = new Map([...ledger.registrations.values()].map((each) => [each.userId, each]));
  const registered = [...events.values()].filter((event) => event.type === registeredTopic);
  for (const event of registered) {
    const { subject: userId, data, id } = event;
    const fault = findFault(event, registrations.get(userId), evidence);
    if (fault !== undefined) history.violate(fault, { subscriber: name, id, userId, data });
  }
  const ids = Map.groupBy(registered, ({ subject }) => subject);
  for (const userId of [...users.keys(), ...erased.keys()]) {
    const own = ids.get(userId)?.map(({ id }) => id) ?? [];
    if (own.length !== 1) history.violate('a subscriber has not one event', { subscriber: name, userId, own });
  }
}

/**
 * Returns what is wrong with a registration's event, if anything. If the app got the 201, the event must name the same
 * group.
 */
function findFault(
  { subject, data }: RegisteredEvent,
  registration: Registration | undefined,
  { users, erased }: Evidence,
): string | undefined {
  const user = users.get(subject);
  if (user === undefined && !erased.has(subject)) return 'a subscriber was notified of nobody';
  const expected = registration?.firstGroupId ?? data.home_group_id;
  const isRight = data.user_id === subject && data.home_group_id === expected;
  const isOfThen = user === undefined || data.registered_at === user.created_at.toISOString();
  return isRight && isOfThen ? undefined : 'a subscriber was notified of something else than the app';
}
