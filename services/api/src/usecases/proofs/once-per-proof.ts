import { createHmac, hash, type KeyObject } from 'node:crypto';
import { AppError, isAppError } from '@auth-account/errors';
import type { SpentProofDocument } from '@auth-account/stores/documents';
import type { Spent, SpentProofStore } from '@auth-account/stores/spent-proofs';
import { MissingKeyError } from '@auth-account/tokens';
import type { ServerSecrets } from '../../security/server-secrets.ts';

/** A challenge that a request uses up. */
export interface Spend {
  /** The challenge's own random id. */
  readonly id: string;
  /** Everything that must be equal in a repeated request, such as method, proof and device. */
  readonly proof: readonly unknown[];
  /** Time after which the challenge would no longer count anyway. */
  readonly until: Date;
}

/**
 * Returns the answer of `work`, which checks the proof and uses the challenge up. If the challenge was used before, the
 * same request gets the answer of `again` for 60 s, because its first answer may have been lost or may be on its way.
 * Raises `ERR-CODE-EXPIRED` for any other request, and throws {@link MissingKeyError} (503) if another api used a key
 * that has not arrived here yet.
 */
export type OncePerProof = <T>(
  spend: Spend,
  work: () => Promise<T>,
  again: (spent: SpentProofDocument) => Promise<T>,
) => Promise<T>;

export interface OncePerProofDeps {
  readonly spentProofs: Pick<SpentProofStore, 'find'>;
  readonly secrets: ServerSecrets;
  readonly now: () => Date;
}

/** Milliseconds for which the same request gets the same answer again. */
const repeatMs = 60_000;

/** Creates the frame of every request that uses up a challenge. */
export function createOncePerProof({ spentProofs, secrets, now }: OncePerProofDeps): OncePerProof {
  async function findEarlier({ id, proof }: Spend): Promise<SpentProofDocument | undefined> {
    const spent = await spentProofs.find(digest(id));
    if (spent === undefined) return;
    if (spent.at.getTime() + repeatMs <= now().getTime()) throw new AppError('ERR-CODE-EXPIRED');
    if (secrets().some((secret) => spent.proof === fingerprint(proof, secret))) return spent;
    const hasKey = spent.key === undefined || secrets().some((secret) => spent.key === keyMark(id, secret));
    if (!hasKey) throw new MissingKeyError(undefined);
    throw new AppError('ERR-CODE-EXPIRED');
  }

  return async (spend, work, again) => {
    const earlier = await findEarlier(spend);
    if (earlier !== undefined) return again(earlier);
    try {
      return await work();
    } catch (error) {
      // A request that came at the same time may have used up the challenge or its proof since then.
      const later = isAppError(error) && error.status < 500 ? await findEarlier(spend) : undefined;
      if (later === undefined) throw error;
      return again(later);
    }
  };
}

/**
 * Returns the record of a used challenge. It shows neither the challenge nor the proof: a mailed code has 8 digits, so
 * anybody who reads the database could find it from a fast hash without a key.
 */
export function spentBy(
  { id, proof, until }: Spend,
  [newest]: ReturnType<ServerSecrets>,
): Pick<Spent, '_id' | 'proof' | 'key' | 'until'> {
  return { _id: digest(id), proof: fingerprint(proof, newest), key: keyMark(id, newest), until };
}

function fingerprint(proof: Spend['proof'], secret: KeyObject): string {
  return hmac(`spent-proof:${JSON.stringify(proof)}`, secret);
}

/** Returns a text by which a process finds out whether it has the key of a record. */
function keyMark(id: string, secret: KeyObject): string {
  return hmac(`spent-proof-key:${id}`, secret);
}

function hmac(text: string, secret: KeyObject): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
