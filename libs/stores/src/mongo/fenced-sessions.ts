import type { ClientSession } from 'mongodb';
import type { SessionDocument } from '../documents.ts';
import type { Collections } from './collections.ts';

/**
 * Reads of changed sessions, from a state that a majority has and that is no older than the fence: see
 * {@link withFence}.
 */
export interface FencedSessions {
  /**
   * Returns sessions that are not revoked and whose claims changed at or after that time, in pages of at most
   * `pageSize`. The oldest change comes first.
   */
  listChangedSince(at: Date, pageSize: number): AsyncIterable<ChangedSession[]>;
  /**
   * Returns sessions revoked at or after that time, in pages of at most `pageSize`. The oldest revocation comes first,
   * but sessions of erased accounts come last.
   */
  listRevokedSince(at: Date, pageSize: number): AsyncIterable<RevokedSession[]>;
}

export type ChangedSession = Pick<SessionDocument, '_id' | 'claims_changed_at' | 'claims_request_id'> & {
  readonly claims: Pick<SessionDocument['claims'], 'ver'>;
};

export type RevokedSession = Pick<
  SessionDocument,
  '_id' | 'revoked_at' | 'revoked_reason' | 'revoked_request_id' | 'revoked_also_close'
>;

/**
 * Runs `read` once a majority has everything that the primary had accepted before this call. The result of `read`
 * contains all these writes, and nothing that can be rolled back, even if another member becomes primary during the
 * call. So the next read of changes by time may start from the time of this call. A read with majority concern alone
 * does not wait, and shows an older state while the majority lags.
 *
 * Throws the driver's error if the majority has not caught up within 4.5 s. `read` does not run in that case.
 *
 * A write that is still on its way to the primary is not covered. It may be applied after the fence, with a time before
 * the fence.
 */
export function withFence<T>(
  { sessions, erasedSessions }: Pick<Collections, 'sessions' | 'erasedSessions'>,
  read: (fenced: FencedSessions) => Promise<T>,
): Promise<T> {
  // Each read of the session waits for the state that the previous read has seen, because a new primary may lack that
  // state.
  return sessions.db.client.withSession({ causalConsistency: true }, async (session) => {
    await passFence(sessions, session);
    return read({
      listChangedSince: (at, pageSize) => listChangedSince(sessions, session, at, pageSize),
      listRevokedSince: (at, pageSize) => listRevokedSince({ sessions, erasedSessions }, session, at, pageSize),
    });
  });
}

/**
 * Reads any document, which need not exist. The server writes a note of the read into the oplog, and waits until a
 * majority has the note. The read is a plain command, because the driver does not retry plain commands. A retry would
 * carry `afterClusterTime`, which linearizable reads do not allow. For the same reason the read must be the first
 * command of its session.
 */
async function passFence({ db, collectionName }: Collections['sessions'], session: ClientSession): Promise<void> {
  const read = { find: collectionName, filter: { _id: '' }, limit: 1, singleBatch: true };
  await db.command({ ...read, ...confirmedRead }, { session });
}

const fenced = { readConcern: { level: 'majority' } } as const;

function listChangedSince(
  sessions: Collections['sessions'],
  session: ClientSession,
  at: Date,
  pageSize: number,
): AsyncIterable<ChangedSession[]> {
  const projection = { 'claims.ver': 1, claims_changed_at: 1, claims_request_id: 1 };
  const options = { ...fenced, session, projection, batchSize: pageSize };
  const changedSince = { claims_changed_at: { $gte: at }, is_revoked: false };
  return inPages(sessions.find<ChangedSession>(changedSince, options).sort({ claims_changed_at: 1 }), pageSize);
}

/**
 * Reads `user_sessions` first. A session whose account is erased during the reads is then found in the first
 * collection, in the second, or in both.
 */
async function* listRevokedSince(
  { sessions, erasedSessions }: Pick<Collections, 'sessions' | 'erasedSessions'>,
  session: ClientSession,
  at: Date,
  pageSize: number,
): AsyncIterable<RevokedSession[]> {
  const projection = {
    revoked_at: 1,
    revoked_reason: 1,
    revoked_request_id: 1,
    revoked_also_close: 1,
  };
  const options = { ...fenced, session, projection, batchSize: pageSize };
  const since = { revoked_at: { $gte: at } };
  const kept = sessions.find<RevokedSession>({ is_revoked: true, ...since }, options);
  yield* inPages(kept.sort({ revoked_at: 1 }), pageSize);
  yield* inPages(erasedSessions.find<RevokedSession>(since, options).sort({ revoked_at: 1 }), pageSize);
}

/**
 * Options of a read that sees everything that any read of the primary can see, and waits until none of it can be rolled
 * back. A read with majority concern is correct as well, but may be behind. A read with these options costs a note in
 * the oplog that a majority has to confirm, so use it only before a final answer. If no majority confirms in time, the
 * store counts as unavailable.
 */
export const confirmedRead = { readConcern: { level: 'linearizable' }, maxTimeMS: 4_500 } as const;

/** Gathers items into lists of `pageSize`. The last list may be shorter. */
async function* inPages<T>(items: AsyncIterable<T>, pageSize: number): AsyncIterable<T[]> {
  let page: T[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < pageSize) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
