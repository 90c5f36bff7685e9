import type { ClientSession } from 'mongodb';
import type { ConsumedProofDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import { confirmedRead } from '../mongo/fenced-sessions.ts';
import { isDuplicateKey } from '../mongo/store-errors.ts';

/** A proof that is being used. It would no longer count after `until`. */
export type Consumed = Omit<ConsumedProofDocument, 'purge_at'> & { readonly until: Date };

/** Proofs that have been used: each counts once. */
export interface ConsumedProofStore {
  find(id: string): Promise<ConsumedProofDocument | undefined>;
  /** Like `find`, but from a state that can't be rolled back: see {@link confirmedRead}. */
  findConfirmed(id: string): Promise<ConsumedProofDocument | undefined>;
  /**
   * Stores that the proof is used; false if it was used before. If it returns false, the transaction is over, so the
   * caller must throw.
   */
  consume(consumed: Consumed, session?: ClientSession): Promise<boolean>;
}

/** Milliseconds for which a record outlives its proof, so that no process whose clock is behind counts it again. */
const marginMs = 5 * 60_000;

export function createConsumedProofStore({ consumedProofs }: Collections): ConsumedProofStore {
  return {
    async find(_id) {
      return (await consumedProofs.findOne({ _id })) ?? undefined;
    },
    async findConfirmed(_id) {
      return (await consumedProofs.findOne({ _id }, confirmedRead)) ?? undefined;
    },
    async consume({ until, ...consumed }, session) {
      const purge_at = new Date(until.getTime() + marginMs);
      try {
        await consumedProofs.insertOne({ ...consumed, purge_at }, session ? { session } : {});
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
  };
}
