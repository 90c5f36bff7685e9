import type { ClientSession } from 'mongodb';
import type { Collections } from './collections.ts';
import type { IdempotencyDocument } from './documents.ts';
import { confirmedRead } from './fenced-sessions.ts';

/** Answers that were given to requests with an `Idempotency-Key`, for as long as a retry may ask for them. */
export interface IdempotencyStore {
  /** The record of any of these ids: one per key of the server, the newest first. */
  find(ids: readonly string[]): Promise<IdempotencyDocument | undefined>;
  /**
   * The same, and it misses no record whose transaction anybody has seen an effect of: if a majority does not have
   * that yet, it waits. Neither this nor `find` gives what could be rolled back.
   */
  findConfirmed(ids: readonly string[]): Promise<IdempotencyDocument | undefined>;
  /**
   * Writes the record in the transaction of the work, so that either both are there or neither. Of two at once the
   * later one conflicts, and then throws the driver's duplicate-key error.
   */
  insert(record: IdempotencyDocument, session: ClientSession): Promise<void>;
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
    async insert(record, session) {
      await idempotency.insertOne(record, { session });
    },
  };
}
