import { type RegisteredEvent, registeredTopic } from '@auth-account/contracts';
import { waitUntil } from '@auth-account/local-stack';
import type { UserDocument } from '@auth-account/stores/documents';
import type { History } from '../load/history.ts';
import type { Ledger, Registration } from '../load/ledger.ts';
import type { FaultStack } from '../stack/start-fault-stack.ts';
import type { WebhookSubscriber } from '../stack/webhook-subscriber.ts';
import { type Facts, isForNobody } from './facts.ts';

/** Milliseconds within which events must arrive once no fault is left and no relay has leased them. */
const drainMs = 90_000;
/** Milliseconds of the longest lease that a relay takes on a row. */
const maxLeaseMs = 600_000;

/** Waits until no event waits for a subscriber. */
export async function waitForDelivery({ collections }: FaultStack, history: History): Promise<void> {
  const isWaiting = { state: { $ne: 'delivered' } } as const;
  // A relay that lost the answer to its claim does not send the claimed rows, so they wait until the lease ends.
  const last = await collections.outbox.findOne(isWaiting, { sort: { locked_until: -1 } });
  const leaseMs = Math.min(maxLeaseMs, (last?.locked_until.getTime() ?? 0) - Date.now());
  const isDone = async () => (await collections.outbox.countDocuments(isWaiting)) === 0;
  const options = { what: 'The deliveries', timeoutMs: Math.max(0, leaseMs) + drainMs, intervalMs: 250 };
  await waitUntil(isDone, options).catch(() => history.violate('events were not delivered', isWaiting));
}

type Subscriber = Pick<WebhookSubscriber, 'name' | 'received' | 'hasKey'>;

/**
 * Checks that each subscriber has every event of the outbox, and no other. Each user's registration must have exactly
 * one event (repeated deliveries of its id aside), which says the same as the answer that the app got. Returns the
 * number of repeated deliveries.
 */
export function checkSubscribers(
  subscribers: readonly Subscriber[],
  ledger: Ledger,
  history: History,
  facts: Facts,
): number {
  let repeated = 0;
  for (const subscriber of subscribers) {
    for (const { deliveries } of subscriber.received.values()) repeated += deliveries - 1;
    checkArrivals(subscriber, history, facts);
    checkRegistered(subscriber, ledger, history, facts);
  }
  return repeated;
}

/** Checks that every event arrives, that nothing else does, and that only a subscriber with a key receives secrets. */
function checkArrivals({ name, received, hasKey }: Subscriber, history: History, { rows }: Facts): void {
  const written = new Map(rows.map((row) => [row._id, row]));
  for (const [id, { event }] of received) {
    const row = written.get(id);
    const detail = { subscriber: name, id, type: event.type };
    if (row === undefined) history.violate('a subscriber was notified of what has not happened', detail);
    else if (isForNobody(row)) history.violate('an event for nobody was delivered', detail);
    if (!hasKey && 'secret' in event.data) history.violate('a subscriber without a key has a secret', detail);
  }
  for (const row of rows) {
    const isMissing = !received.has(row._id) && !isForNobody(row) && row.discarded?.[name] === undefined;
    if (isMissing) history.violate('an event has not arrived', { subscriber: name, id: row._id, type: row.event.type });
  }
}

function checkRegistered({ name, received }: Subscriber, ledger: Ledger, history: History, facts: Facts): void {
  const registrations = new Map([...ledger.registrations.values()].map((each) => [each.userId, each]));
  const ids = new Map<string, string[]>();
  for (const [id, { event }] of received) {
    if (event.type !== registeredTopic) continue;
    const { subject: userId, data } = event;
    ids.set(userId, [...(ids.get(userId) ?? []), id]);
    const isKnown = facts.users.has(userId) || facts.erased.has(userId);
    const fault = isKnown
      ? findFault(event, facts.users.get(userId), registrations.get(userId))
      : 'a subscriber was notified of nobody';
    if (fault !== undefined) history.violate(fault, { subscriber: name, id, userId, data });
  }
  for (const userId of [...facts.users.keys(), ...facts.erased.keys()]) {
    const events = ids.get(userId) ?? [];
    if (events.length !== 1) history.violate('a subscriber has not one event', { subscriber: name, userId, events });
  }
}

/**
 * Returns what is wrong with a registration's event, if anything. If the app got the 201, the event must name the same
 * group.
 */
function findFault(
  { subject, data }: RegisteredEvent,
  user: UserDocument | undefined,
  registration: Registration | undefined,
): string | undefined {
  const expected = registration?.firstGroupId ?? data.home_group_id;
  const isRight = data.user_id === subject && data.home_group_id === expected;
  const isOfThen = user === undefined || data.registered_at === user.created_at.toISOString();
  return isRight && isOfThen ? undefined : 'a subscriber was notified of something else than the app';
}
