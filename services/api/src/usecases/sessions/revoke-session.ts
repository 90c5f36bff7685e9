import type { SessionRevokedResponse } from '@auth-account/contracts/http/sessions';
import { AppError } from '@auth-account/errors';
import { closeReasonOf, type SessionStore, type UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Announcement, createAnnounceAgain, type IsDenied } from '../../announcements/announce.ts';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Audit } from '../../audit/audit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';

export interface RevokeSessionDeps {
  readonly users: Pick<UserStore, 'forgetDevice'>;
  readonly sessions: Pick<
    SessionStore,
    'find' | 'findConfirmed' | 'findLive' | 'revokeOwn' | 'revokeAll' | 'areRevoked' | 'holdOf'
  >;
  readonly commit: Commit;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly isDenied: IsDenied;
  readonly audit: Audit;
  readonly now: () => Date;
}

/** A session that its user ends. */
interface Target {
  readonly sessionId: string;
  readonly caller: VerifiedAccessToken;
  readonly at: Date;
}

/**
 * Ends one of the caller's sessions by its id. The session's stream closes with 4001, or with 1000 if it is the
 * caller's own session. If it is another session ("not me"), the account forgets that session's device in the same
 * transaction: its next login sends a notice again, and the device is trusted no longer.
 *
 * Raises `ERR-LOGOUT-TARGET-NOT-FOUND` if the id does not name a live session of the caller. If the session is over
 * already, its end is first announced again, because the request that ended it may have been answered 503.
 */
export function createRevokeSession(deps: RevokeSessionDeps) {
  const { sessions, now } = deps;
  const announceAgain = createAnnounceAgain(deps);
  const endOwn = createEndOwn(deps);
  const endOther = createEndOther(deps);

  return async (
    sessionId: string,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<SessionRevokedResponse['data']> => {
    const target = { sessionId, caller, at: now() };
    const end = () => (sessionId === caller.sid ? endOwn : endOther)(target, origin);

    /** Tries again if the end of the session that was read has been rolled back. */
    async function endAgain(): Promise<boolean> {
      const session = await sessions.find(sessionId);
      const isOver = session?.user_id === caller.user_id && session.is_revoked;
      return isOver && !(await announceAgain(sessionId)) && end();
    }

    if (!(await end()) && !(await endAgain())) throw new AppError('ERR-LOGOUT-TARGET-NOT-FOUND');
    return { message: 'SESSION_TERMINATED', session_id: sessionId, timestamp: now().toISOString() };
  };
}

/** Creates the logout on the caller's own device. It is one write, and false if the session is over. */
function createEndOwn({ sessions, announce, audit }: RevokeSessionDeps) {
  const reason = 'logout';
  return async ({ sessionId, caller: { user_id }, at }: Target, origin: RequestOrigin): Promise<boolean> => {
    const { requestId } = origin;
    if (!(await sessions.revokeOwn({ sessionId, userId: user_id }, { reason, at, requestId }))) return false;
    audit({ event: 'session.revoked', user_id, session_id: sessionId, reason }, origin);
    await announce({ sessionIds: [sessionId], reason: closeReasonOf(reason), requestId, at });
    return true;
  };
}

/** Creates the end of a session of another device. It is false if the session is not a live one of the caller. */
function createEndOther({ users, sessions, commit, now }: RevokeSessionDeps) {
  const reason = 'revoked_by_user';
  return async ({ sessionId, caller: { user_id, sid: by }, at }: Target, origin: RequestOrigin): Promise<boolean> => {
    const { isEnded } = await commit(
      {
        at,
        // Like logouts of all devices, these run one after the other for each account.
        lockKey: user_id,
        hold: sessions.holdOf([user_id], now),
        isCommitted: () => sessions.areRevoked([sessionId]),
        ifClientLeft: 'commit',
        async work(session) {
          const live = await sessions.findLive(sessionId, session);
          if (live?.user_id !== user_id || live.expires_at <= at)
            return { isEnded: false, events: none, audit: none, sessions: none };
          const { requestId } = origin;
          await sessions.revokeAll([sessionId], { reason, at, requestId, by }, session);
          await users.forgetDevice(user_id, live.device_id, session);
          const ended = { userId: user_id, reason, sessionIds: [sessionId] } as const;
          return { isEnded: true, events: none, audit: none, sessions: [ended] };
        },
      },
      origin,
    );
    return isEnded;
  };
}
