import type { ClientSession } from 'mongodb';
import type { Collections } from './collections.ts';
import type { SessionDocument } from './documents.ts';

/** Changes of sessions that a majority has, no older than the fence: see {@link withFence}. */
export interface FencedSessions {
  /**
   * Sessions that are not revoked and whose claims were changed at or after that time, oldest first, in pages of at
   * most `pageSize`.
   */
  listChangedSince(at: Date, pageSize: number): AsyncIterable<ChangedSession[]>;
  /**
   * Sessions revoked at or after that time, also those of erased accounts, in pages of at most `pageSize`. Oldest
   * first, those of erased accounts last.
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
 * contains all of that, and nothing that can be rolled back, even if another member becomes primary meanwhile. So a
 * caller that compares by time may continue from this call. A read with majority concern alone shows an older state
 * while the majority lags, and does not wait.
 *
 * Throws the driver's error if the majority has not caught up within 4.5 s; `read` is not run then.
 *
 * Not guaranteed: a write that is on its way to the primary. It may be applied after the fence, with an older time in
 * it.
 */
export function withFence<T>(
  { sessions, erasedSessions }: Pick<Collections, 'sessions' | 'erasedSessions'>,
  read: (fenced: FencedSessions) => Promise<T>,
): Promise<T> {
  // Each read of the session waits for the state that the one before it has seen; a new primary may not have it yet.
  return sessions.db.client.withSession({ causalConsistency: true }, async (session) => {
    await passFence(sessions, session);
    return read({
      listChangedSince: (at, pageSize) => listChangedSince(sessions, session, at, pageSize),
      listRevokedSince: (at, pageSize) => listRevokedSince({ sessions, erasedSessions }, session, at, pageSize),
    });
  });
}

/**
 * Reads any document, even one that does not exist: the server notes the read in the oplog, and waits until a majority
 * has the note. It is a plain command, which the driver does not retry: a retry would carry `afterClusterTime`, which
 * linearizable reads do not allow. So would any command that is not the first of its session.
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

/** Sessions first: one whose account is erased meanwhile is in either the first read or the second, or in both. */
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
 * Options of a read that sees everything that the primary shows to anybody, and waits until none of it can be rolled
 * back. A read with majority concern is correct as well, but may be behind. This one costs a note in the oplog, which a
 * majority has to confirm: use it before an answer that is final. Without a majority in time, the store counts as
 * unavailable.
 */
export const confirmedRead = { readConcern: { level: 'linearizable' }, maxTimeMS: 4_500 } as const;

/** Gathers items into lists of `pageSize`; the last one may be shorter. */
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
