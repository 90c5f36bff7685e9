import type { ClientSession } from 'mongodb';
import type { IdempotencyDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import { confirmedRead } from '../mongo/fenced-sessions.ts';

/** Answers to requests with an `Idempotency-Key`, kept for as long as a retry may ask for them. */
export interface IdempotencyStore {
  /** Returns the record with any of these ids. There is one id per server key, newest key first. */
  find(ids: readonly string[]): Promise<IdempotencyDocument | undefined>;
  /**
   * Like `find`, but misses no record whose transaction had a visible effect. It waits if a majority does not have the
   * record yet. Neither this nor `find` returns a record that could be rolled back.
   */
  findConfirmed(ids: readonly string[]): Promise<IdempotencyDocument | undefined>;
  /**
   * Writes the records of one request, one per server key, in the transaction of the work, so that all exist or none
   * does. Of two concurrent requests the later one conflicts, and then throws the driver's duplicate-key error.
   */
  insert(records: readonly IdempotencyDocument[], session: ClientSession): Promise<void>;
}

export function createIdempotencyStore({ idempotency }: Collections): IdempotencyStore {
  return {
    async find(ids) {
      const options = { readConcern: { level: 'majority' } } as const;
      return (await idempotency.findOne({ _id: { $in: [...ids] } }, options)) ?? undefined;
    },
    async findConfirmed(ids) {
      return (await idempotency.findOne({ _id: { $in: [...ids] } }, confirmedRead)) ?? undefined;
    },
    async insert(records, session) {
      // The records are inserted one by one, because the driver's error for a bulk insert shows neither a conflict nor
      // an outage.
      for (const record of records) await idempotency.insertOne(record, { session });
    },
  };
}
