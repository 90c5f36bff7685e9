import type { ClientSession } from 'mongodb';
import type { Collections } from './collections.ts';
import type { SpentProofDocument } from './documents.ts';
import { isDuplicateKey } from './store-errors.ts';

/** Proofs that have been used: each counts once. */
export interface SpentProofStore {
  find(id: string): Promise<SpentProofDocument | undefined>;
  /**
   * Stores that the proof is used; false if it was used before. If it returns false, the transaction is over, so the
   * caller must throw.
   */
  spend(spent: SpentProofDocument, session?: ClientSession): Promise<boolean>;
}

export function createSpentProofStore({ spentProofs }: Collections): SpentProofStore {
  return {
    async find(_id) {
      return (await spentProofs.findOne({ _id })) ?? undefined;
    },
    async spend(spent, session) {
      try {
        await spentProofs.insertOne(spent, session ? { session } : {});
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
  };
}
