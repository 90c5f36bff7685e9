import { AppError } from '@auth-account/errors';
import { closeReasonOf, type SessionStore, type TransactionRequest } from '@auth-account/stores';
import type { RevocationReason } from '@auth-account/stores/documents';
import type { ClientSession } from 'mongodb';
import type { Announcement } from '../../announcements/announce.ts';
import type { Audit } from '../../audit/audit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';

export interface EndSessionsDeps {
  readonly sessions: Pick<SessionStore, 'revokeOf' | 'holdOf'>;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly audit: Audit;
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

/** Ends a user's sessions with the change that causes it: first in its transaction, then after its commit. */
export interface EndSessions {
  /**
   * Returns the options of the change's transaction: it keeps refreshes away while it is tried again, and one runs
   * after the other for each account, but before others that wait for the same account.
   */
  turnOf(userId: string): Pick<TransactionRequest, 'lockKey' | 'hold' | 'isUrgent'>;
  /**
   * Revokes the sessions, and returns their ids. The transaction must have written the user's document before, so that
   * no login slips past. Raises `IAD_JWT_ACCESS_INVALID` if the session to be spared is over already: what it has asked
   * for must not happen.
   */
  revoke(end: SessionsEnd, origin: RequestOrigin, session: ClientSession): Promise<string[]>;
  /** Writes the ends to the audit log, and closes the streams. */
  announce(end: SessionsEnd, sessionIds: readonly string[], origin: RequestOrigin): Promise<void>;
}

/** Creates the two steps of the end of a user's sessions. */
export function createEndSessions({ sessions, announce, audit, now }: EndSessionsDeps): EndSessions {
  return {
    turnOf: (userId) => ({ lockKey: userId, hold: sessions.holdOf([userId], now), isUrgent: true }),
    async revoke({ userId, reason, at, spare, by = spare }, { requestId }, session) {
      const revocation = { reason, at, requestId, ...(by !== undefined && { by }) };
      const { ended, isSpareLive } = await sessions.revokeOf(userId, revocation, session, spare);
      if (spare !== undefined && !isSpareLive) throw new AppError('IAD_JWT_ACCESS_INVALID');
      return ended;
    },
    async announce({ userId, reason, at }, sessionIds, origin) {
      for (const session_id of sessionIds)
        audit({ event: 'session.revoked', user_id: userId, session_id, reason }, origin);
      await announce({ sessionIds, reason: closeReasonOf(reason), requestId: origin.requestId, at });
    },
  };
}
