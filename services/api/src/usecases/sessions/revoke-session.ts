import type { SessionRevokedResponse } from '@auth-account/contracts/http/sessions';
import { AppError } from '@auth-account/errors';
import { closeReasonOf, type SessionStore, type UserStore } from '@auth-account/stores';
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
 * caller's own session. If it is another session ("not me"), the account first forgets that session's device, so that
 * the device's next login sends a notice again. No transaction is needed, so a storm of refreshes does not delay the end.
 *
 * Raises `ERR-LOGOUT-TARGET-NOT-FOUND` if the id does not name a live session of the caller. If the session is over
 * already, its end is first announced again, because the request that ended it may have been answered 503.
 */
export function createRevokeSession(deps: RevokeSessionDeps) {
  const { users, sessions, announce, audit, now } = deps;
  const announceAgain = createAnnounceAgain(deps);

  return async (
    sessionId: string,
    { user_id, sid }: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<SessionRevokedResponse['data']> => {
    const { requestId } = origin;
    const at = now();
    const reason = sessionId === sid ? 'logout' : 'revoked_by_user';
    const by = reason === 'logout' ? {} : { by: sid };
    const revoke = () => sessions.revokeOwn({ sessionId, userId: user_id }, { reason, at, requestId, ...by });

    /** Ends a session that is not the caller's own, or that the first write has not found live. */
    async function readAndRevoke(): Promise<boolean> {
      const session = await sessions.find(sessionId);
      if (session?.user_id !== user_id) return false;
      if (session.is_revoked ? await announceAgain(sessionId) : session.expires_at <= at) return false;
      if (reason === 'revoked_by_user') await users.forgetDevice(user_id, session);
      return revoke();
    }

    const isRevoked = (reason === 'logout' && (await revoke())) || (await readAndRevoke());
    if (!isRevoked) throw new AppError('ERR-LOGOUT-TARGET-NOT-FOUND');
    audit({ event: 'session.revoked', user_id, session_id: sessionId, reason }, origin);
    await announce({ sessionIds: [sessionId], reason: closeReasonOf(reason), requestId, at });
    return { message: 'SESSION_TERMINATED', session_id: sessionId, timestamp: now().toISOString() };
  };
}
