import { addEvent, type EventQueue } from '@auth-account/messaging';
import type { OutboxDocument, OutboxStore } from '@auth-account/stores';

export interface RelayDeps {
  readonly outbox: OutboxStore;
  /** Subscriber → its queue, over a connection that fails at once where Redis is away. */
  readonly queues: ReadonlyMap<string, EventQueue>;
  /** Rejects where Redis is away: nothing is leased then. */
  readonly assertReachable: () => Promise<unknown>;
  readonly batch: number;
  readonly now: () => Date;
  readonly newLease: () => string;
  readonly onClaimed: (rows: number) => void;
}

/**
 * Makes one round of the relay: it leases outbox rows that were left and puts each on the queues of the subscribers that
 * do not have it. A job of the same id that is already there stays as it is; one that is completed or has failed for
 * good is noted in the row. Rejects with the first error, once the batch is through.
 */
export function createRelay(deps: RelayDeps): () => Promise<void> {
  const { outbox, queues, assertReachable, batch, now, newLease, onClaimed } = deps;
  const subscribers = [...queues.keys()];

  /** Gives whether the subscriber has the event. */
  async function handOn(row: OutboxDocument, queue: EventQueue): Promise<boolean> {
    const job = await queue.getJob(row._id);
    if (job === undefined) {
      await addEvent(queue, row.event);
      return false;
    }
    if (job.finishedOn === undefined) return false;
    const state = await job.getState();
    if (state === 'failed') await outbox.noteError(row._id, `${queue.name}: given up: ${job.failedReason}`);
    return state === 'completed';
  }

  async function relay(row: OutboxDocument): Promise<void> {
    const missing = [...queues].filter(([name]) => row.deliveries[name] === undefined);
    const has = await Promise.all(missing.map(([, queue]) => handOn(row, queue)));
    const by = missing.flatMap(([name], index) => (has[index] ? [name] : []));
    if (by.length > 0 || missing.length === 0) {
      await outbox.markDelivered(row._id, { by, at: now(), subscribers });
    }
  }

  async function relayOrNote(row: OutboxDocument): Promise<void> {
    try {
      await relay(row);
    } catch (error) {
      await outbox.noteError(row._id, `relay: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
  }

  return async () => {
    for (;;) {
      await assertReachable();
      const rows = await outbox.claim({ lease: newLease(), now: now(), limit: batch });
      onClaimed(rows.length);
      const results = await Promise.allSettled(rows.map(relayOrNote));
      const failure = results.find((result) => result.status === 'rejected');
      if (failure) throw failure.reason;
      if (rows.length < batch) return;
    }
  };
}
