import { randomUUID } from 'node:crypto';
import type { ClientSession, Filter } from 'mongodb';
import type { Collections } from './collections.ts';
import type { SessionDocument } from './documents.ts';

/** Keeps refreshes from some users' sessions while a transaction that ends or moves them is tried again. */
export interface SessionHold {
  /**
   * Marks the sessions that are live now, for {@link holdMs}. Refreshes that were accepted come before the transaction
   * that begins next; none comes between. Replaces any other hold. A transaction that begins in the same `session` has
   * the marks in its snapshot; another's may lie before them while other writes of the server are open.
   */
  take(session?: ClientSession): Promise<void>;
  /** Removes the marks of this hold. Without it, for example if the process dies, they end by themselves. */
  release(): Promise<void>;
}

/** Milliseconds after which a hold ends by itself, and for which a refresh waits for the end of one. */
export const holdMs = 2_000;

/** Milliseconds for which a write waits for another transaction that has the session. */
const longestWriteMs = 2_000;

/** Users whose sessions are held, or the search for them, which is made when the hold is taken. */
export type HeldUsers = readonly string[] | (() => readonly string[] | Promise<readonly string[]>);

/** Creates the hold. No answer of its writes waits for a majority: a mark that is lost is only another conflict. */
export function createSessionHold(sessions: Collections['sessions'], users: HeldUsers, now: () => Date): SessionHold {
  const by = randomUUID();
  const options = { writeConcern: { w: 1 }, maxTimeMS: longestWriteMs } as const;
  let live: Filter<SessionDocument> | undefined;
  return {
    async take(session) {
      const userIds = typeof users === 'function' ? await users() : users;
      if (userIds.length === 0) return;
      live = { user_id: { $in: [...userIds] }, is_revoked: false };
      const until = new Date(now().getTime() + holdMs);
      await sessions.updateMany(live, { $set: { hold: { by, until } } }, session ? { ...options, session } : options);
    },
    async release() {
      if (live === undefined) return;
      await sessions.updateMany({ ...live, 'hold.by': by }, { $unset: { hold: true } }, options);
    },
  };
}
