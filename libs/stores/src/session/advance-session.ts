import type { HashPosition, SessionDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import { writeOnce } from '../mongo/write-once.ts';

/** A refresh with the newest token of a live session. */
export interface Advance {
  readonly sessionId: string;
  /** Hash of the presented token. */
  readonly token: string;
  readonly generation: number;
  /** Key of the presented token and of the next one. */
  readonly kid: string;
  /** Index of the next token's hash. */
  readonly next: HashPosition;
  /** Thumbprint of the key that has proven this refresh; undefined for an unbound session. */
  readonly jkt: string | undefined;
  readonly at: Date;
  /** Idle expiry after this use, limited by the session's absolute expiry. */
  readonly expiresAt: Date;
}

/**
 * A session without its precomputed hashes (`ahead`). These hashes are a third of a session's bytes, and no answer
 * needs them.
 */
export type AdvancedSession = Omit<SessionDocument, 'ahead'>;

/**
 * Advances a session by one generation in one statement, without reading it first. Only the newest token's hash equals
 * `token`, so the match proves that the newest token was presented. Returns the session after the change; undefined if
 * the session is not live or is held, if it is bound to another key, if `token` is not its newest, or if the next hash
 * is not in `ahead`. After undefined, the caller must read the session and decide.
 *
 * Also returns undefined if the answer is lost. The caller then reads the session and reaches the same result, as after
 * a refresh by another request.
 */
export async function advanceSession(
  { db, collectionName }: Collections['sessions'],
  { sessionId, token, generation, kid, next, jkt, at, expiresAt }: Advance,
): Promise<AdvancedSession | undefined> {
  const query = {
    ...{ _id: sessionId, token, is_revoked: false, expires_at: { $gt: at } },
    ...{ 'ahead.kid': kid, 'ahead.block': next.block, hold: null },
    cnf: jkt === undefined ? null : { jkt },
  };
  const $set = {
    token: { $substrBytes: ['$ahead.hashes', next.start, next.length] },
    ...{ gen: generation + 1, parent: generation, floor: generation },
    ...{ handed_out_at: at, last_used_at: at },
    expires_at: { $min: [expiresAt, '$absolute_expires_at'] },
  };
  const command = { findAndModify: collectionName, query, update: [{ $set }], new: true, fields: { ahead: 0 } };
  return (await writeOnce(db, command))?.value ?? undefined;
}
