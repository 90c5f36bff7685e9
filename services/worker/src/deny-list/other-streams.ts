import type { RevokedSession } from '@auth-account/stores';

/** The streams of other sessions, which live on, that a logout closes with that of the session it ends. */
export interface OtherStreams {
  /**
   * Returns the session whose stream the end of this one closes too. Undefined if an earlier page had that end: its
   * close has been published, and Redis has only forgotten it. A second close would hit the next stream of a session
   * that lives.
   */
  of(session: RevokedSession): string | undefined;
  /** Remembers the ends of a page, once all of them are in the deny list. */
  remember(page: readonly RevokedSession[]): void;
  /**
   * Forgets the ends that were decided before that time (milliseconds since the epoch), which no page shows any more.
   */
  forget(before: number): void;
}

export function createOtherStreams(): OtherStreams {
  /** Ends that were in a page, each with the time of its decision; only those that close another stream. */
  const shown = new Map<string, number>();
  return {
    of: ({ _id, revoked_also_close }) => (shown.has(_id) ? undefined : revoked_also_close),
    remember(page) {
      for (const { _id, revoked_at, revoked_also_close } of page) {
        if (revoked_also_close !== undefined) shown.set(_id, revoked_at?.getTime() ?? 0);
      }
    },
    forget(before) {
      for (const [sessionId, decidedAt] of shown) if (decidedAt < before) shown.delete(sessionId);
    },
  };
}
