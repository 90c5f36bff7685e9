import { createHmac, hash, type KeyObject } from 'node:crypto';
import { AppError } from '@auth-account/errors';
import type { Consumed, ConsumedProofStore } from '@auth-account/stores/consumed-proofs';
import type { ClientSession } from 'mongodb';
import type { ServerSecrets } from '../../security/server-secrets.ts';

/** A challenge that a request uses up. */
export interface ChallengeUse {
  /** The challenge's own random id. */
  readonly id: string;
  /** Everything that must be equal in a repeated request, such as method, proof and device. */
  readonly proof: readonly unknown[];
  /** Time after which the challenge would no longer count anyway. */
  readonly until: Date;
}

/** The session that uses up a challenge. */
export interface ConsumedBy {
  readonly sessionId: string;
  readonly at: Date;
}

/**
 * Marks the challenge as used, in the transaction of the login and before the session exists. Raises
 * `ERR-CODE-EXPIRED` if it was used before.
 */
export type ConsumeProof = (
  challengeUse: ChallengeUse,
  by: ConsumedBy,
  transactionSession: ClientSession,
) => Promise<void>;

export interface ConsumeProofDeps {
  readonly consumedProofs: Pick<ConsumedProofStore, 'consume'>;
  readonly secrets: ServerSecrets;
}

/** Uses up the challenge of a login. */
export function createConsumeProof({ consumedProofs, secrets }: ConsumeProofDeps): ConsumeProof {
  return async (challengeUse, { sessionId: session_id, at }, transactionSession) => {
    const isFirst = await consumedProofs.consume(
      { ...consumedBy(challengeUse, secrets()), session_id, at },
      transactionSession,
    );
    if (!isFirst) throw new AppError('ERR-CODE-EXPIRED');
  };
}

/**
 * Returns the record of a used challenge. It shows neither the challenge nor the proof: a mailed code has 8 digits, so
 * anybody who reads the database could find it from a fast hash without a key.
 */
export function consumedBy(
  { id, proof, until }: ChallengeUse,
  [newest]: ReturnType<ServerSecrets>,
): Pick<Consumed, '_id' | 'proof' | 'key' | 'until'> {
  return { _id: digest(id), proof: fingerprint(proof, newest), key: keyMark(id, newest), until };
}

function fingerprint(proof: ChallengeUse['proof'], secret: KeyObject): string {
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
