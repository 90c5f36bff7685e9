import type { EventQueue } from '@auth-account/messaging';
import type { OutboxStore } from '@auth-account/stores';
import type { OutboxDocument } from '@auth-account/stores/documents';
import type { QueueRoom } from '../delivery/queue-room.ts';
import { createEnqueue, type EnqueueDeps, type Enqueued, isWaitedForBy } from './enqueue.ts';

export interface RelayDeps extends EnqueueDeps {
  readonly outbox: OutboxStore;
  /** Subscriber → its queue. */
  readonly queues: ReadonlyMap<string, EventQueue>;
  readonly room: Pick<QueueRoom, 'read'>;
  readonly batch: number;
  readonly now: () => Date;
  readonly newLease: () => string;
  readonly onClaimed: (rows: number) => void;
}

/**
 * Creates the function that runs one round of the relay: it leases outbox rows that were left and enqueues each for the
 * subscribers that do not have it. A row that finds a queue full is held until there is room, and then leased beside
 * the rows that are due, so that neither delays the other. While Redis is away, or all queues are full, nothing is
 * leased. Rejects with the first error, once the batch is through.
 */
export function createRelay(deps: RelayDeps): () => Promise<void> {
  const { outbox, queues, room, batch, now, newLease, onClaimed } = deps;
  const subscribers = [...queues.keys()];
  const enqueue = createEnqueue(deps);

  async function relay(rows: readonly OutboxDocument[], opened: ReadonlySet<string>): Promise<void> {
    const results = await Promise.allSettled(
      Array.from(queues, ([name, queue]) => enqueue(rows, { name, queue, isOpen: opened.has(name) })),
    );
    const rowsOf = (which: keyof Enqueued) =>
      results.map((result) => new Set(result.status === 'fulfilled' ? result.value[which] : []));
    const [had, heldBack] = [rowsOf('had'), rowsOf('heldBack')];
    const at = now();
    const known = rows.map((row) => {
      const by = subscribers.filter((_, index) => had[index]?.has(row));
      const held = subscribers.filter((_, index) => heldBack[index]?.has(row));
      const waiting = subscribers.filter((name) => isWaitedForBy(row, name)).length;
      return { row, eventId: row._id, lease: row.lease, by, at, for: held, waiting };
    });
    const news = known.filter(({ by, waiting }) => waiting === 0 || by.length > 0);
    await outbox.markDelivered(news, subscribers);
    const holds = known.filter((one) => one.for.length > 0);
    await outbox.hold(
      holds.map((one) => ({ ...one, isAll: one.waiting === one.by.length + one.for.length })),
      at,
    );
    const failure = results.find((result) => result.status === 'rejected');
    if (failure) throw failure.reason;
  }

  async function relayOrNote(rows: readonly OutboxDocument[], opened: ReadonlySet<string>): Promise<void> {
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
      const opened = await room.read();
      if (opened.size === 0 && queues.size > 0) return;
      const claim = { lease: newLease(), now: now(), limit: batch };
      const due = await outbox.claim(claim);
      const held: OutboxDocument[] = mayBeHeld ? await outbox.claimHeld({ ...claim, opened: [...opened] }) : [];
      mayBeHeld = held.length > 0;
      const rows = [...due, ...held];
      if (rows.length === 0) return;
      onClaimed(rows.length);
      await relayOrNote(rows, opened);
    }
  };
}
