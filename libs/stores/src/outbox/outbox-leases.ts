import type { Collection, Filter } from 'mongodb';
import type { OutboxDocument } from '../documents.ts';

const firstPauseMs = 5_000;
const maximumPauseMs = 600_000;

/** Milliseconds after which a held row is claimed even if there is no capacity. */
const heldPauseMs = 3_600_000;

/**
 * `locked_until` of a row that waits only for capacity in a queue. Such a row is found by its hold, never by its lease.
 */
const never = new Date(8_640_000_000_000_000);

/**
 * Number of tries to claim rows. Another worker may lease exactly the rows that were found, while other rows are still
 * free.
 */
const claimTries = 3;

const releaseBatch = 1_000;

/** Leases of outbox rows. A lease shows which worker owns the row. */
export interface OutboxLeases {
  /**
   * Leases up to `limit` rows that have no lease or whose lease has ended, so no row is stranded if a relay dies. The
   * lease doubles with each claim of a row, from 5 s to 10 min, so the rows of a subscriber that is down cost little.
   * Returns no rows if no row is free, or if other workers were faster several times. With a topic, leases only rows of
   * that topic. Only the urgent topic has an index for this.
   */
  claim(options: Claim & { readonly topic?: string }): Promise<OutboxDocument[]>;
  /**
   * Leases rows that are held for a queue in `opened` (the queues that have capacity now), and rows that have been held
   * for an hour. These rows are then no longer held.
   */
  claimHeld(options: Claim & { readonly opened: readonly string[] }): Promise<OutboxDocument[]>;
  /**
   * Holds leased rows until there is capacity in one of their queues. While a row is held and waits for no other
   * subscriber, {@link claim} does not return it, so any number of such rows costs nothing and delays no others. A row
   * whose lease has passed to another worker stays as it is.
   */
  hold(rows: readonly Held[], now: Date): Promise<void>;
  /**
   * Ends every lease, so that all waiting rows are claimed again. A caller does this when the queues may have lost the
   * rows' events. A row that waits only for capacity is in no queue, and stays held. Works in batches, so that no other
   * write is delayed for long.
   */
  release(now: Date): Promise<void>;
}

export interface Claim {
  readonly lease: string;
  readonly now: Date;
  readonly limit: number;
}

/** A row for which these queues have no capacity. */
export interface Held {
  readonly row: Pick<OutboxDocument, '_id' | 'lease'>;
  readonly for: readonly string[];
  /** True if the row waits for nothing else. */
  readonly isAll: boolean;
}

export function createOutboxLeases(outbox: Collection<OutboxDocument>): OutboxLeases {
  async function take({ lease, now }: Claim, ids: readonly string[], isFree: Filter<OutboxDocument>) {
    const filter = { _id: { $in: [...ids] } };
    const taken = await outbox.updateMany({ ...filter, ...isFree }, [
      { $set: { lease, locked_until: nextLook(now), attempts: { $add: ['$attempts', 1] } } },
      { $unset: 'held' },
    ]);
    if (taken.modifiedCount === 0) return [];
    return outbox.find({ ...filter, lease }, { projection: { attempt_log: 0 } }).toArray();
  }

  return {
    async claim({ topic, ...options }) {
      const ofTopic = topic === undefined ? {} : { topic };
      const isFree: Filter<OutboxDocument> = { state: 'pending', ...ofTopic, locked_until: { $lte: options.now } };
      for (let tries = 0; tries < claimTries; tries++) {
        const oldest = outbox.find(isFree, { projection: { _id: 1 } }).sort({ locked_until: 1 });
        const ids = (await oldest.limit(options.limit).toArray()).map(({ _id }) => _id);
        if (ids.length === 0) return [];
        const rows = await take(options, ids, isFree);
        if (rows.length > 0) return rows;
      }
      return [];
    },
    async claimHeld({ opened, ...options }) {
      const isOpen = { state: 'pending', 'held.for': { $in: [...opened] } } as const;
      const isOld = { state: 'pending', 'held.until': { $lte: options.now } } as const;
      const isFree = { $or: opened.length === 0 ? [isOld] : [isOpen, isOld] };
      const held = outbox.find(isFree, { projection: { _id: 1 } }).limit(options.limit);
      const ids = (await held.toArray()).map(({ _id }) => _id);
      return ids.length === 0 ? [] : take(options, ids, isFree);
    },
    async hold(rows, now) {
      if (rows.length === 0) return;
      const until = new Date(now.getTime() + heldPauseMs);
      const operations = rows.map(({ row, isAll, for: names }) => {
        const filter = { _id: row._id, state: 'pending' as const, lease: row.lease ?? '' };
        const update = { $set: { held: { for: names, until }, ...(isAll ? { locked_until: never } : {}) } };
        return { updateOne: { filter, update } };
      });
      await outbox.bulkWrite(operations, { ordered: false });
    },
    async release(now) {
      // Starts with the longest lease. A row that is claimed again during the loop gets a longer lease, so the loop
      // does not meet it again.
      let bound: Filter<OutboxDocument>['locked_until'] = { $gt: now, $lt: never };
      for (;;) {
        const isLeased: Filter<OutboxDocument> = { state: 'pending', attempts: { $gt: 0 }, locked_until: bound };
        const longest = outbox.find(isLeased, { projection: { locked_until: 1 } }).sort({ locked_until: -1 });
        const rows: Pick<OutboxDocument, '_id' | 'locked_until'>[] = await longest.limit(releaseBatch).toArray();
        const last = rows.at(-1);
        if (last === undefined) return;
        const ids = rows.map(({ _id }) => _id);
        await outbox.updateMany({ _id: { $in: ids }, ...isLeased }, { $set: { locked_until: now } });
        bound = { $gt: now, $lte: last.locked_until };
      }
    },
  };
}

/** Pause until the next claim. It doubles with every claim: `firstPauseMs * 2^attempts`, at most `maximumPauseMs`. */
function nextLook(now: Date) {
  const pause = { $min: [maximumPauseMs, { $multiply: [firstPauseMs, { $pow: [2, '$attempts'] }] }] };
  return { $add: [now, pause] };
}
