import { urgentTopic } from '@auth-account/contracts/events';
import type { OutboxStore } from '@auth-account/stores';
import type { EventSubscriber, OutboxDocument } from '@auth-account/stores/documents';
import { hasCapacity, type OpenQueues, type QueueCapacity } from '../delivery/queue-capacity.ts';
import { type SubscriberQueue, takes } from '../delivery/subscriber-queues.ts';
import { createEnqueue, type EnqueueDeps, type Enqueued, isWaitedForBy } from './enqueue.ts';

export interface RelayDeps extends EnqueueDeps {
  readonly outbox: OutboxStore;
  /** Every subscriber that is configured now. */
  readonly subscribers: readonly EventSubscriber[];
  readonly queues: readonly SubscriberQueue[];
  readonly capacity: Pick<QueueCapacity, 'read'>;
  readonly batch: number;
  readonly newLease: () => string;
  readonly onClaimed: (rows: number) => void;
  /** Called for each event that is dropped for the subscriber because it has expired. */
  readonly onExpired: (subscriber: string) => void;
}

/**
 * Runs one round of the relay, which leases outbox rows that were not published and enqueues each for the subscribers
 * that do not have it. If a queue is full, the row is held until there is capacity, and then leased along with the rows
 * that are due, so that held and due rows do not delay each other. Urgent rows are leased in the first batch, even if
 * other rows were due before them. While Redis is away, or all queues are full, nothing is leased. Rejects with the
 * first error, after the whole batch was processed.
 */
export function createRelay(deps: RelayDeps): () => Promise<void> {
  const { outbox, subscribers, queues, capacity, now, onClaimed, onExpired } = deps;
  const enqueue = createEnqueue(deps);

  async function relay(rows: readonly OutboxDocument[], opened: OpenQueues): Promise<void> {
    const results = await Promise.allSettled(
      queues.map((target) => {
        const taken = rows.filter(({ topic }) => takes(target, topic));
        return enqueue(taken, {
          ...target,
          hasCapacityFor: (topic) => hasCapacity(opened, target.queue.name, topic),
        });
      }),
    );
    const rowsOf = (which: keyof Enqueued) =>
      results.map((result) => new Set(result.status === 'fulfilled' ? result.value[which] : []));
    const [had, expired, heldBack] = [rowsOf('had'), rowsOf('expired'), rowsOf('heldBack')];
    const at = now();
    const known = rows.map((row) => {
      const targetsIn = (sets: typeof had) => queues.filter((_, index) => sets[index]?.has(row));
      const by = targetsIn(had).map(({ subscriber }) => subscriber);
      const expiredFor = targetsIn(expired).map(({ subscriber }) => subscriber);
      const held = targetsIn(heldBack).map(({ queue }) => queue.name);
      const waiting = queues.filter((target) => takes(target, row.topic) && isWaitedForBy(row, target.subscriber));
      const left = waiting.length - by.length - expiredFor.length;
      return { row, eventId: row._id, lease: row.lease, by, expiredFor, at, for: held, left };
    });
    const news = known.filter(({ by, expiredFor, left }) => left === 0 || by.length + expiredFor.length > 0);
    await outbox.markDelivered(news, subscribers);
    for (const subscriber of known.flatMap(({ expiredFor }) => expiredFor)) onExpired(subscriber);
    // Urgent rows are not held, because thousands of held rows may come before them. Their leases end soon.
    const holds = known.filter((one) => one.for.length > 0 && one.row.topic !== urgentTopic);
    await outbox.hold(
      holds.map((one) => ({ ...one, isAll: one.left === one.for.length })),
      at,
    );
    const failure = results.find((result) => result.status === 'rejected');
    if (failure) throw failure.reason;
  }

  async function relayOrNote(rows: readonly OutboxDocument[], opened: OpenQueues): Promise<void> {
    try {
      await relay(rows, opened);
    } catch (error) {
      const ids = rows.map(({ _id }) => _id);
      await outbox.noteError(ids, `relay: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
  }

  return async () => {
    let mayBeHeld = true;
    for (;;) {
      const opened = await capacity.read();
      if (opened.forUrgent.size === 0 && queues.length > 0) return;
      const { rows, wasHeld } = await leaseRows(deps, opened, mayBeHeld);
      if (rows.length === 0) return;
      mayBeHeld = wasHeld;
      onClaimed(rows.length);
      await relayOrNote(rows, opened);
    }
  };
}

/**
 * Leases up to a batch each of due, urgent and held rows. Rows that are not urgent are leased only if a queue has
 * capacity.
 */
async function leaseRows(
  { outbox, queues, batch, now, newLease }: RelayDeps,
  opened: OpenQueues,
  mayBeHeld: boolean,
): Promise<{ readonly rows: readonly OutboxDocument[]; readonly wasHeld: boolean }> {
  const claim = { lease: newLease(), now: now(), limit: batch };
  const isOpen = opened.forAll.size > 0 || queues.length === 0;
  const due = isOpen ? await outbox.claim(claim) : [];
  // Urgent rows are among the due rows, but thousands of other rows may come before them.
  const mayBeUrgent = !isOpen || due.length > 0;
  const urgent = mayBeUrgent ? await outbox.claim({ ...claim, topic: urgentTopic }) : [];
  const held = isOpen && mayBeHeld ? await outbox.claimHeld({ ...claim, opened: [...opened.forAll] }) : [];
  return { rows: [...urgent, ...due, ...held], wasHeld: held.length > 0 };
}
