import { AppError } from '@auth-account/errors';
import type { SessionStore } from '@auth-account/stores';
import type { RevocationReason } from '@auth-account/stores/documents';
import type { ClientSession } from 'mongodb';
import type { Change, EndedSessions, Outcome } from '../../announcements/commit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';

export interface EndSessionsDeps {
  readonly sessions: Pick<SessionStore, 'revokeOf' | 'holdOf'>;
  readonly now: () => Date;
}

/** The end of a user's sessions, as a consequence of a change of the account. */
export interface SessionsEnd {
  readonly userId: string;
  readonly reason: RevocationReason;
  readonly at: Date;
  /** The session that goes on, and from which the others end. */
  readonly spare?: string;
  /** The session from which they end, unless it is the one to be spared. */
  readonly by?: string | undefined;
}

/** Ends a user's sessions with the change that causes it. */
export interface EndSessions {
  /**
   * Returns the turn of the change: it keeps refreshes away while it is tried again, and one runs after the other for
   * each account, but before others that wait for the same account.
   */
  turnOf(userId: string): Pick<Change<Outcome>, 'lockKey' | 'hold' | 'isUrgent'>;
  /**
   * Revokes the sessions, and returns them. The transaction must have written the user's document before, so that
   * no login slips past. Raises `IAD_JWT_ACCESS_INVALID` if the session to be spared is over already: what it has asked
   * for must not happen.
   */
  revoke(end: SessionsEnd, origin: RequestOrigin, session: ClientSession): Promise<EndedSessions>;
}

/** Creates the end of a user's sessions. */
export function createEndSessions({ sessions, now }: EndSessionsDeps): EndSessions {
  return {
    turnOf: (userId) => ({ lockKey: userId, hold: sessions.holdOf([userId], now), isUrgent: true }),
    async revoke({ userId, reason, at, spare, by = spare }, { requestId }, session) {
      const revocation = { reason, at, requestId, ...(by !== undefined && { by }) };
      const { ended, isSpareLive } = await sessions.revokeOf(userId, revocation, session, spare);
      if (spare !== undefined && !isSpareLive) throw new AppError('IAD_JWT_ACCESS_INVALID');
      return { userId, reason, sessionIds: ended };
    },
  };
}
