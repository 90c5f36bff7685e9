import type { Collections } from './collections.ts';
import type { HashPlace, SessionDocument } from './documents.ts';
import { writeOnce } from './write-once.ts';

/** A refresh by the newest token of a live session. */
export interface Advance {
  readonly sessionId: string;
  /** Hash of the presented token. */
  readonly token: string;
  readonly generation: number;
  /** Key of the presented token and of the next one. */
  readonly kid: string;
  /** Place of the next token's hash. */
  readonly next: HashPlace;
  readonly at: Date;
  /** Idle expiry after this use; the session's absolute one limits it. */
  readonly expiresAt: Date;
}

/** A session without the hashes ahead: a third of its bytes, which no answer needs. */
export type AdvancedSession = Omit<SessionDocument, 'ahead'>;

/**
 * Advances a session by one generation in one statement, without having read it: only the newest token's hash is equal
 * to `token`, so its holder has shown the newest token. Returns the session after the change; undefined if it is not
 * live or is held, its newest token is another, or the next hash is not among those ahead: then it must be read, and
 * decided.
 *
 * If the answer is lost it returns undefined too: the refresh that reads converges with this one, as with that of
 * another request.
 */
export async function advanceSession(
  { db, collectionName }: Collections['sessions'],
  { sessionId, token, generation, kid, next, at, expiresAt }: Advance,
): Promise<AdvancedSession | undefined> {
  const query = {
    ...{ _id: sessionId, token, is_revoked: false, expires_at: { $gt: at } },
    ...{ 'ahead.kid': kid, 'ahead.block': next.block, hold: null },
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
