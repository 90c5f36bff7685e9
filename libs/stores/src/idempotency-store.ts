import type { ClientSession } from 'mongodb';
import type { Collections } from './collections.ts';
import type { IdempotencyDocument } from './documents.ts';
import { confirmedRead } from './fenced-sessions.ts';

/** Answers to requests with an `Idempotency-Key`, kept for as long as a retry may ask for them. */
export interface IdempotencyStore {
  /** Returns the record with any of these ids: one per key of the server, newest first. */
  find(ids: readonly string[]): Promise<IdempotencyDocument | undefined>;
  /**
   * Like `find`, but misses no record whose transaction had an effect that anybody has seen: it waits if a majority
   * does not have it yet. Neither this nor `find` returns a record that could be rolled back.
   */
  findConfirmed(ids: readonly string[]): Promise<IdempotencyDocument | undefined>;
  /**
   * Writes the records of one request, one per key of the server, in the transaction of the work: either all exist or
   * none. Of two concurrent requests the later conflicts, and then throws the driver's duplicate-key error.
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
      // One by one: of several at once the driver's error tells neither a conflict nor an outage.
      for (const record of records) await idempotency.insertOne(record, { session });
    },
  };
}
