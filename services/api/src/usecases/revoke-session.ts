import type { SessionRevokedResponse } from '@auth-account/contracts';
import { AppError } from '@auth-account/errors';
import type { SessionStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/tokens';
import type { Announcement } from '../push/announce-revocations.ts';
import type { RequestOrigin } from '../request-origin.ts';

export interface RevokeSessionDeps {
  readonly sessions: Pick<SessionStore, 'revokeOwn'>;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly now: () => Date;
}

/**
 * Ends one of the caller's sessions by its id. Its stream closes with 4001, the caller's own with 1000.
 *
 * Raises `ERR-LOGOUT-TARGET-NOT-FOUND` for what is no live session of the caller.
 */
export function createRevokeSession({ sessions, announce, now }: RevokeSessionDeps) {
  return async (
    sessionId: string,
    caller: VerifiedAccessToken,
    { requestId }: RequestOrigin,
  ): Promise<SessionRevokedResponse['data']> => {
    const at = now();
    const isOwn = sessionId === caller.sid;
    const reason = isOwn ? 'logout' : 'revoked_by_user';
    const session = await sessions.revokeOwn({ sessionId, userId: caller.user_id }, { reason, at, requestId });
    if (session === undefined) throw new AppError('ERR-LOGOUT-TARGET-NOT-FOUND');
    await announce({ sessionIds: [sessionId], reason: isOwn ? 'LOGOUT_CONFIRMED' : 'SESSION_REVOKED', requestId, at });
    return { message: 'SESSION_TERMINATED', session_id: sessionId, timestamp: now().toISOString() };
  };
}
