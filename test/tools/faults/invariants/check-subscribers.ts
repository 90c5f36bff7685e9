import { setTimeout as sleep } from 'node:timers/promises';
import type { UserDocument } from '@auth-account/stores/documents';
import type { History } from '../load/history.ts';
import type { Ledger } from '../load/ledger.ts';
import type { FaultStack } from '../stack/start-fault-stack.ts';
import type { ReceivedEvent, WebhookSubscriber } from '../stack/webhook-subscriber.ts';

/** Milliseconds that events may be on their way once no fault is left and no relay holds them. */
const drainMs = 90_000;
/** The longest lease of a row. */
const longestLeaseMs = 600_000;

/** Waits until no event waits for a subscriber. */
export async function waitForDelivery({ collections }: FaultStack, history: History): Promise<void> {
  const isWaiting = { state: { $ne: 'delivered' } } as const;
  // A relay that lost the answer to its claim does not know about it: the rows wait until the lease ends.
  const last = await collections.outbox.findOne(isWaiting, { sort: { locked_until: -1 } });
  const leaseMs = Math.min(longestLeaseMs, (last?.locked_until.getTime() ?? 0) - Date.now());
  const deadline = history.now() + Math.max(0, leaseMs) + drainMs;
  for (;;) {
    const waiting = await collections.outbox.countDocuments(isWaiting);
    if (waiting === 0) return;
    if (history.now() > deadline) {
      history.violate('events were not delivered', { waiting });
      return;
    }
    await sleep(250);
  }
}

/**
 * Each subscriber has one event of each user, by its id, whose content matches the app's answer, and no other event.
 * Returns the number of duplicates.
 */
export function checkSubscribers(
  subscribers: readonly Pick<WebhookSubscriber, 'name' | 'received'>[],
  ledger: Ledger,
  history: History,
  users: ReadonlyMap<string, UserDocument>,
): number {
  let repeated = 0;
  for (const { name, received } of subscribers) {
    const ids = new Map<string, string[]>();
    for (const [id, event] of received) {
      const { userId, deliveries, data } = event;
      repeated += deliveries - 1;
      ids.set(userId, [...(ids.get(userId) ?? []), id]);
      const fault = findFault(event, users.get(userId), ledger);
      if (fault !== undefined) history.violate(fault, { subscriber: name, id, userId, data });
    }
    for (const userId of users.keys()) {
      const events = ids.get(userId) ?? [];
      if (events.length !== 1) history.violate('a subscriber has not one event', { subscriber: name, userId, events });
    }
  }
  return repeated;
}

/**
 * Returns the fault of an event: it must be about a user's registration, into the group that the 201 named, if one
 * came.
 */
function findFault({ data }: ReceivedEvent, user: UserDocument | undefined, ledger: Ledger): string | undefined {
  if (user === undefined) return 'a subscriber was told of nobody';
  const told = ledger.registrations.get(user.email)?.firstGroupId ?? data.home_group_id;
  const isRight = data.user_id === user._id && data.home_group_id === told;
  const isOfThen = data.registered_at === user.created_at.toISOString();
  return isRight && isOfThen ? undefined : 'a subscriber was told something else than the app';
}
