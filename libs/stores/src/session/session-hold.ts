import { randomUUID } from 'node:crypto';
import type { ClientSession, Filter } from 'mongodb';
import type { SessionDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';

/** Keeps refreshes away from some users' sessions while a transaction that ends or moves these sessions is retried. */
export interface SessionHold {
  /**
   * Marks the sessions that are live now, for {@link holdMs}, so that only refreshes that were already accepted come
   * before the next transaction. Replaces any other hold. A transaction that begins in the same `session` sees the
   * marks in its snapshot. The snapshot of a transaction in another session may lack the marks while other writes of
   * the server are open.
   */
  take(session?: ClientSession): Promise<void>;
  /**
   * Removes the marks of this hold. A mark that is never removed, for example because the process dies, delays the
   * session's next refresh by {@link holdMs}, and that refresh removes it.
   */
  release(): Promise<void>;
}

/** Milliseconds for which a refresh waits for the end of one hold. */
export const holdMs = 2_000;

/** Milliseconds for which a write waits for another transaction that is writing the session. */
const maxWriteMs = 2_000;

/** Users whose sessions are held, or the function that finds these users when the hold is taken. */
export type HeldUsers = readonly string[] | (() => readonly string[] | Promise<readonly string[]>);

/** Holds a session. Its writes do not wait for a majority, because a lost mark only means one more conflict. */
export function createSessionHold(sessions: Collections['sessions'], users: HeldUsers): SessionHold {
  const by = randomUUID();
  const options = { writeConcern: { w: 1 }, maxTimeMS: maxWriteMs } as const;
  let live: Filter<SessionDocument> | undefined;
  return {
    async take(session) {
      const userIds = typeof users === 'function' ? await users() : users;
      if (userIds.length === 0) return;
      live = { user_id: { $in: [...userIds] }, is_revoked: false };
      const update = [{ $set: { hold: { by, until: { $add: ['$$NOW', holdMs] } } } }];
      await sessions.updateMany(live, update, session ? { ...options, session } : options);
    },
    async release() {
      if (live === undefined) return;
      await sessions.updateMany({ ...live, 'hold.by': by }, { $unset: { hold: true } }, options);
    },
  };
}
