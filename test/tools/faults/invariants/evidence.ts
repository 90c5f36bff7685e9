import { waitUntil } from '@auth-account/local-stack';
import type { Collections } from '@auth-account/stores';
import type { OutboxDocument } from '@auth-account/stores/documents';
import type { History } from '../load/history.ts';
import type { Ledger } from '../load/ledger.ts';
import type { WebhookSubscriber } from '../stack/subscribers.ts';

/** The answers to the apps, and everything with which they are compared. */
export type Evidence = Awaited<ReturnType<typeof readEvidence>>;

interface Given {
  readonly ledger: Ledger;
  readonly history: History;
  readonly subscribers: readonly Pick<WebhookSubscriber, 'name' | 'received' | 'hasKey'>[];
  readonly collections: Collections;
}

/** Reads the stores, after the last change. */
export async function readEvidence(given: Given) {
  const { users, outbox } = given.collections;
  const rows = await outbox.find().toArray();
  const deleted = rows.filter(({ event }) => event.type === 'service.auth.events.deleted');
  return {
    ...given,
    /** The subscribers, with the different events of their deliveries by id. */
    subscribers: given.subscribers.map(({ name, hasKey, received }) => {
      const events = new Map(received.map(({ event }) => [event.id, event]));
      return { name, hasKey, events, repeated: received.length - events.size };
    }),
    /** Users by id. */
    users: new Map((await users.find().toArray()).map((user) => [user._id, user])),
    /** All events. */
    rows,
    /** The events of deletions, by user id. */
    erased: Map.groupBy(deleted, ({ event }) => event.subject),
  };
}

/** Returns true if the row is an event for no subscriber, about an email address without an account, or a taken one. */
export function isForNobody({ state, deliveries, discarded }: OutboxDocument): boolean {
  return state === 'delivered' && Object.keys({ ...deliveries, ...discarded }).length === 0;
}

/**
 * Milliseconds within which running workers must erase every account that is due, and within which events must arrive
 * once no fault is left and no relay has leased them.
 */
const drainMs = 90_000;
/** Milliseconds of the longest lease that a relay takes on a row. */
const maxLeaseMs = 600_000;

/** Waits until no account is due. Ends the leases of killed workers at once, instead of a minute later. */
export async function waitForErasures({ users }: Collections, history: History, patienceMs = drainMs): Promise<void> {
  const due = { deletes_at: { $lte: new Date() } };
  await users.updateMany({ ...due, erasure: { $exists: true } }, { $set: { 'erasure.until': new Date(0) } });
  const isDone = async () => (await users.countDocuments(due)) === 0;
  const options = { what: 'The erasures', timeoutMs: patienceMs, intervalMs: 100 };
  await waitUntil(isDone, options).catch(() => history.violate('accounts were not erased', due));
}

/** Waits until no event waits for a subscriber. */
export async function waitForDelivery({ outbox }: Collections, history: History): Promise<void> {
  const isWaiting = { state: { $ne: 'delivered' } } as const;
  // A relay that lost the answer to its claim does not send the claimed rows, so they wait until the lease ends.
  const last = await outbox.findOne(isWaiting, { sort: { locked_until: -1 } });
  const leaseMs = Math.min(maxLeaseMs, (last?.locked_until.getTime() ?? 0) - Date.now());
  const isDone = async () => (await outbox.countDocuments(isWaiting)) === 0;
  const options = { what: 'The deliveries', timeoutMs: Math.max(0, leaseMs) + drainMs, intervalMs: 250 };
  await waitUntil(isDone, options).catch(() => history.violate('events were not delivered', isWaiting));
}
