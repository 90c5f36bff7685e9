import type { RegisteredEvent } from '@auth-account/contracts';
import type { ClientSession } from 'mongodb';
import type { Collections } from './collections.ts';
import type { OutboxDocument } from './documents.ts';

/** Milliseconds for which a fresh row is left to the hand-over that follows the commit. */
export const handOverGraceMs = 5_000;

const firstPauseMs = 5_000;
const maximumPauseMs = 600_000;

/** The transactional outbox: an event is stored with what it tells, and handed on until every subscriber has it. */
export interface OutboxStore {
  /** Writes the event's row. It takes the session of the transaction, so that no row can be written outside one. */
  append(event: RegisteredEvent, at: Date, session: ClientSession): Promise<void>;
  /**
   * Leases up to `limit` rows that nobody holds: a relay that dies strands nothing. A row that comes round again waits
   * twice as long each time, from 5 s to 10 min, so that many rows of a subscriber that is down cost little.
   */
  claim(options: { readonly lease: string; readonly now: Date; readonly limit: number }): Promise<OutboxDocument[]>;
  /** Ends every lease, so that all that waits is claimed anew: for whoever finds that the queues may have lost it. */
  release(now: Date): Promise<void>;
  /** Remembers why a row could not be handed on. */
  noteError(eventId: string, message: string): Promise<void>;
  /**
   * Notes that these subscribers have the event; the row is delivered once all of `subscribers` do. Idempotent. Gives
   * whether it is delivered now.
   */
  markDelivered(eventId: string, delivered: Delivered): Promise<boolean>;
  /** How many rows wait, and since when the oldest does. */
  backlog(): Promise<{ readonly depth: number; readonly oldest: Date | undefined }>;
}

export interface Delivered {
  readonly by: readonly string[];
  readonly at: Date;
  /** Every subscriber that is configured now. */
  readonly subscribers: readonly string[];
}

export function createOutboxStore({ outbox }: Collections): OutboxStore {
  return {
    async append(event, at, session) {
      const row: OutboxDocument = {
        _id: event.id,
        topic: event.type,
        event,
        state: 'pending',
        created_at: at,
        locked_until: new Date(at.getTime() + handOverGraceMs),
        attempts: 0,
        deliveries: {},
      };
      await outbox.insertOne(row, { session });
    },
    async claim({ lease, now, limit }) {
      const isFree = { state: 'pending', locked_until: { $lte: now } } as const;
      const free = await outbox
        .find(isFree, { projection: { _id: 1 } })
        .sort({ locked_until: 1 })
        .limit(limit)
        .toArray();
      if (free.length === 0) return [];
      const ids = free.map(({ _id }) => _id);
      await outbox.updateMany({ _id: { $in: ids }, ...isFree }, [
        { $set: { lease, locked_until: nextLook(now), attempts: { $add: ['$attempts', 1] } } },
      ]);
      return outbox.find({ _id: { $in: ids }, lease }).toArray();
    },
    async release(now) {
      const isLeased = { state: 'pending', attempts: { $gt: 0 }, locked_until: { $gt: now } } as const;
      await outbox.updateMany(isLeased, { $set: { locked_until: now } });
    },
    async noteError(eventId, message) {
      await outbox.updateOne({ _id: eventId, state: 'pending' }, { $set: { last_error: message } });
    },
    async markDelivered(eventId, { by, at, subscribers }) {
      const had = Object.fromEntries(by.map((name) => [name, { $ifNull: [`$deliveries.${name}`, at] }]));
      const isDelivered = { $and: subscribers.map((name) => ({ $gt: [`$deliveries.${name}`, null] })) };
      const row = await outbox.findOneAndUpdate(
        { _id: eventId, state: 'pending' },
        [
          { $set: { deliveries: { $mergeObjects: ['$deliveries', had] } } },
          { $set: { state: { $cond: [isDelivered, 'delivered', '$state'] } } },
          { $set: { delivered_at: { $cond: [isDelivered, at, '$$REMOVE'] } } },
        ],
        { returnDocument: 'after', projection: { state: 1 } },
      );
      // No row: delivered before, and perhaps already gone by its TTL.
      return row === null || row.state === 'delivered';
    },
    async backlog() {
      const [depth, oldest] = await Promise.all([
        outbox.countDocuments({ state: 'pending' }),
        outbox.findOne({ state: 'pending' }, { sort: { created_at: 1 }, projection: { created_at: 1 } }),
      ]);
      return { depth, oldest: oldest?.created_at };
    },
  };
}

/** Doubles with every claim: `firstPauseMs * 2^attempts`, at most `maximumPauseMs`. */
function nextLook(now: Date) {
  const pause = { $min: [maximumPauseMs, { $multiply: [firstPauseMs, { $pow: [2, '$attempts'] }] }] };
  return { $add: [now, pause] };
}
