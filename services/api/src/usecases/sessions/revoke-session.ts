import type { SessionRevokedResponse } from '@auth-account/contracts/http/sessions';
import { AppError } from '@auth-account/errors';
import {
  closeReasonOf,
  type OwnSession,
  type Revocation,
  type SessionStore,
  type UserStore,
} from '@auth-account/stores';
import type { SessionDocument } from '@auth-account/stores/documents';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Announcement, createAnnounceAgain, type IsDenied } from '../../announcements/announce.ts';
import type { Audit } from '../../audit/audit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';

export interface RevokeSessionDeps {
  readonly users: Pick<UserStore, 'forgetDevice'>;
  readonly sessions: Pick<SessionStore, 'find' | 'findConfirmed' | 'revokeOwn'>;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly isDenied: IsDenied;
  readonly audit: Audit;
  readonly now: () => Date;
}

/**
 * Ends one of the caller's sessions by its id. The session's stream closes with 4001, or with 1000 if it is the
 * caller's own session. If it is another session ("not me"), the account forgets that session's device, so that the
 * device's next login sends a notice again.
 *
 * Raises `ERR-LOGOUT-TARGET-NOT-FOUND` if the id does not name a live session of the caller. If the session is over
 * already, its end is first announced again, because the request that ended it may have been answered 503.
 */
export function createRevokeSession({ users, sessions, announce, isDenied, audit, now }: RevokeSessionDeps) {
  const announceAgain = createAnnounceAgain({ sessions, announce, isDenied });

  /**
   * Forgets the device of a session that was ended from another session. After any other end the device stays known.
   */
  async function forgetDevice({ user_id, device_id, revoked_reason }: SessionDocument): Promise<void> {
    if (revoked_reason === 'revoked_by_user') await users.forgetDevice(user_id, device_id);
  }

  /**
   * Revokes the caller's own session in one write. The session is read only if it is not the caller's own, or if the
   * write found no live session.
   */
  async function revoke(own: OwnSession, revocation: Revocation): Promise<boolean> {
    const isRevoked = await sessions.revokeOwn(own, revocation);
    if (isRevoked && revocation.reason === 'logout') return true;
    const session = await sessions.find(own.sessionId);
    if (session?.user_id !== own.userId || !session.is_revoked) return isRevoked;
    // This is needed even if the session was over already, because the request that ended it may have failed at this
    // step.
    await forgetDevice(session);
    if (isRevoked) return true;
    return !(await announceAgain(own.sessionId)) && sessions.revokeOwn(own, revocation);
  }

  return async (
    sessionId: string,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<SessionRevokedResponse['data']> => {
    const { requestId } = origin;
    const at = now();
    const reason = sessionId === caller.sid ? 'logout' : 'revoked_by_user';
    const by = reason === 'logout' ? {} : { by: caller.sid };
    const isRevoked = await revoke({ sessionId, userId: caller.user_id }, { reason, at, requestId, ...by });
    if (!isRevoked) throw new AppError('ERR-LOGOUT-TARGET-NOT-FOUND');
    audit({ event: 'session.revoked', user_id: caller.user_id, session_id: sessionId, reason }, origin);
    await announce({ sessionIds: [sessionId], reason: closeReasonOf(reason), requestId, at });
    return { message: 'SESSION_TERMINATED', session_id: sessionId, timestamp: now().toISOString() };
  };
}
