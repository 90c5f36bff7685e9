import { setTimeout as sleep } from 'node:timers/promises';
import type { UserDocument } from '@auth-account/stores';
import type { History } from '../load/history.ts';
import type { FaultStack } from '../stack/start-fault-stack.ts';

/** For so long at most events may be on their way once nothing is broken any more, in milliseconds. */
const drainMs = 90_000;

/** Waits until no event waits for anybody. */
export async function waitForDelivery({ collections }: FaultStack, history: History): Promise<void> {
  const deadline = history.now() + drainMs;
  for (;;) {
    const waiting = await collections.outbox.countDocuments({ state: { $ne: 'delivered' } });
    if (waiting === 0) return;
    if (history.now() > deadline) {
      history.violate('events were not delivered', { waiting });
      return;
    }
    await sleep(250);
  }
}

/** Each subscriber has one event of each user, by its id, and none of anybody else. Gives how many came twice. */
export function checkSubscribers(
  { subscribers }: FaultStack,
  history: History,
  users: ReadonlyMap<string, UserDocument>,
): number {
  let repeated = 0;
  for (const { name, received } of subscribers) {
    const ids = new Map<string, string[]>();
    for (const [id, { userId, deliveries }] of received) {
      repeated += deliveries - 1;
      ids.set(userId, [...(ids.get(userId) ?? []), id]);
      if (!users.has(userId)) history.violate('a subscriber was told of nobody', { subscriber: name, id, userId });
    }
    for (const userId of users.keys()) {
      const events = ids.get(userId) ?? [];
      if (events.length !== 1) history.violate('a subscriber has not one event', { subscriber: name, userId, events });
    }
  }
  return repeated;
}
