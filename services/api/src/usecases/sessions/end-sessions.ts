import { AppError } from '@auth-account/errors';
import type { SessionStore } from '@auth-account/stores';
import type { IdentityDocument, RevocationReason } from '@auth-account/stores/documents';
import type { ClientSession } from 'mongodb';
import type { Change, EndedSessions, Outcome } from '../../announcements/commit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';

export interface EndSessionsDeps {
  readonly sessions: Pick<SessionStore, 'revokeOf' | 'listOpenedBy' | 'revokeAll' | 'holdOf'>;
}

/** The sessions that a change of the account ends, and the reason. */
export interface SessionsEnd {
  readonly userId: string;
  readonly reason: RevocationReason;
  readonly at: Date;
  /** The session that stays, and whose request ends the others. */
  readonly spare?: string;
  /** The session whose request ends the sessions, if it is not `spare`. */
  readonly by?: string | undefined;
}

/** Ends a user's sessions as part of the change that requires it. */
export interface EndSessions {
  /**
   * Returns the lock and the hold of such a change. Refreshes are kept away while the change is tried again. Such
   * changes of one account run one after another, and before other changes that wait for the account.
   */
  turnOf(userId: string): Pick<Change<Outcome>, 'lockKey' | 'hold' | 'isUrgent'>;
  /**
   * Revokes the sessions, and returns them. The transaction must have written the user's document before, so that no
   * login is missed. Raises `IAD_JWT_ACCESS_INVALID` if `spare` is over already, because that session's request must
   * then fail.
   */
  revoke(end: SessionsEnd, origin: RequestOrigin, session: ClientSession): Promise<EndedSessions>;
  /**
   * Revokes the sessions that the identity has opened, because of that security event, and returns them. The
   * transaction must write the user's document.
   */
  revokeOpenedBy(
    identity: IdentityDocument,
    end: Pick<SessionsEnd, 'userId' | 'at'> & { readonly notice: string },
    origin: RequestOrigin,
    session: ClientSession,
  ): Promise<EndedSessions>;
}

/** Ends a user's sessions. */
export function createEndSessions({ sessions }: EndSessionsDeps): EndSessions {
  return {
    turnOf: (userId) => ({ lockKey: userId, hold: sessions.holdOf([userId]), isUrgent: true }),
    async revoke({ userId, reason, at, spare, by = spare }, { requestId }, session) {
      const revocation = { reason, at, requestId, ...(by !== undefined && { by }) };
      const { ended, isSpareLive } = await sessions.revokeOf(userId, revocation, session, spare);
      if (spare !== undefined && !isSpareLive) throw new AppError('IAD_JWT_ACCESS_INVALID');
      return { userId, reason, sessionIds: ended };
    },
    async revokeOpenedBy(identity, { userId, at, notice }, { requestId }, session) {
      const reason = 'revoked_by_provider';
      const sessionIds = (await sessions.listOpenedBy(userId, identity, session)).map(({ _id }) => _id);
      await sessions.revokeAll(
        sessionIds,
        { reason, at, requestId, notice: `${identity.provider} ${notice}` },
        session,
      );
      return { userId, reason, sessionIds };
    },
  };
}
