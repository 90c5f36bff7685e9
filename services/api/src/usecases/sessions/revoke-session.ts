import type { SessionRevokedResponse } from '@auth-account/contracts/http/sessions';
import { AppError } from '@auth-account/errors';
import { closeReasonOf, type OwnSession, type SessionStore, type UserStore } from '@auth-account/stores';
import type { SessionDocument } from '@auth-account/stores/documents';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Announcement, createAnnounceAgain, type IsDenied } from '../../announcements/announce.ts';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Audit } from '../../audit/audit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { EndSessions } from './end-sessions.ts';

export interface RevokeSessionDeps {
  readonly users: Pick<UserStore, 'forgetDevice' | 'touch'>;
  readonly sessions: Pick<SessionStore, 'find' | 'findConfirmed' | 'revokeOwn' | 'findLive' | 'areRevoked'>;
  readonly endSessions: Pick<EndSessions, 'turnOf'>;
  readonly commit: Commit;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly isDenied: IsDenied;
  readonly audit: Audit;
  readonly now: () => Date;
}

/**
 * Ends one of the caller's sessions by its id. The session's stream closes with 4001, or with 1000 if it is the
 * caller's own session, whose end needs no transaction. If it is another session ("not me"), the account also forgets
 * that session's device, so that the device's next login causes a notification again.
 *
 * Raises `ERR-LOGOUT-TARGET-NOT-FOUND` if the id does not name a live session of the caller, and
 * `IAD_JWT_ACCESS_INVALID` if the caller's own session has ended since. If the session is over already, its end is first
 * announced again, because the request that ended it may have been answered 503.
 */
export function createRevokeSession(deps: RevokeSessionDeps) {
  const { users, sessions, endSessions, commit, announce, audit, now } = deps;
  const announceAgain = createAnnounceAgain(deps);

  /** Returns the user's session if it may be live at that time. */
  async function findTarget({ sessionId, userId }: OwnSession, at: Date): Promise<SessionDocument | undefined> {
    const session = await sessions.find(sessionId);
    if (session?.user_id !== userId) return;
    const isOver = session.is_revoked ? await announceAgain(sessionId) : session.expires_at <= at;
    return isOver ? undefined : session;
  }

  async function endCallers(own: OwnSession, at: Date, origin: RequestOrigin): Promise<boolean> {
    const reason = 'logout';
    const { requestId } = origin;
    const revoke = () => sessions.revokeOwn(own, { reason, at, requestId });
    const { sessionId, userId } = own;
    const isEnded = (await revoke()) || ((await findTarget(own, at)) !== undefined && (await revoke()));
    if (!isEnded) return false;
    audit({ event: 'session.revoked', user_id: userId, session_id: sessionId, reason }, origin);
    await announce({ sessionIds: [sessionId], reason: closeReasonOf(reason), requestId, at });
    return true;
  }

  async function endOther(own: OwnSession, sid: string, at: Date, origin: RequestOrigin): Promise<boolean> {
    const { sessionId, userId } = own;
    const reason = 'revoked_by_user';
    const revocation = { reason, at, requestId: origin.requestId, by: sid } as const;
    const target = await findTarget(own, at);
    if (target === undefined) return false;
    const { sessions: ended } = await commit(
      {
        at,
        ...endSessions.turnOf(userId),
        isCommitted: () => sessions.areRevoked([sessionId]),
        ifClientLeft: 'commit',
        outlivesCaller: true,
        async work(session) {
          // Before the check of the caller's session, so that a storm of refreshes makes no conflicts.
          const isEnded = await sessions.revokeOwn(own, revocation, session);
          const isLive = (await sessions.findLive(sid, session)) !== undefined;
          if (!isLive) throw new AppError('IAD_JWT_ACCESS_INVALID');
          await users.touch(userId, session);
          if (isEnded) await users.forgetDevice(userId, target, session);
          const sessionIds = isEnded ? [sessionId] : [];
          return { events: none, audit: none, sessions: [{ userId, reason, sessionIds }] };
        },
      },
      origin,
    );
    return ended.some(({ sessionIds }) => sessionIds.length > 0);
  }

  return async (
    sessionId: string,
    { user_id: userId, sid }: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<SessionRevokedResponse['data']> => {
    const [own, at] = [{ sessionId, userId }, now()];
    const isEnded = await (sessionId === sid ? endCallers(own, at, origin) : endOther(own, sid, at, origin));
    if (!isEnded) throw new AppError('ERR-LOGOUT-TARGET-NOT-FOUND');
    return { message: 'SESSION_TERMINATED', session_id: sessionId, timestamp: now().toISOString() };
  };
}
