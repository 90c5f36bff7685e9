import type { LogoutRequest, LogoutResponse } from '@auth-account/contracts';
import { AppError } from '@auth-account/errors';
import type { Revocation, SessionDocument, SessionStore } from '@auth-account/stores';
import { type RefreshTokens, refreshTokenHash, type VerifiedAccessToken } from '@auth-account/tokens';
import type { Audit } from '../audit/audit.ts';
import type { Announcement } from '../push/announce.ts';
import type { RequestOrigin } from '../request-origin.ts';

export interface LogOutDeps {
  readonly sessions: Pick<SessionStore, 'find' | 'revokeOwn'>;
  readonly refreshTokens: Pick<RefreshTokens, 'parse' | 'isGenuine'>;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly audit: Audit;
  readonly now: () => Date;
}

/**
 * Logout (specification, `POST /api/v1/auth/logout`; decisions, "Logout"). The user is only ever the access token's.
 *
 * Raises `ERR-LOGOUT-TARGET-NOT-FOUND` for anything that is no genuine token of a live session of the caller.
 */
export function createLogOut(
  deps: LogOutDeps,
): (input: LogoutRequest, caller: VerifiedAccessToken, origin: RequestOrigin) => Promise<LogoutResponse['data']> {
  const { sessions, refreshTokens, announce, audit, now } = deps;

  /** One write where the token is the newest; only a miss reads, since any genuine token of the session will do. */
  async function revoke(
    token: string,
    caller: VerifiedAccessToken,
    requestId: string,
  ): Promise<SessionDocument | undefined> {
    const parts = refreshTokens.parse(token);
    if (parts === undefined) return undefined;
    const own = { sessionId: parts.sessionId, userId: caller.user_id };
    const revocation: Revocation = {
      reason: 'logout',
      at: now(),
      requestId,
      ...(caller.sid === parts.sessionId ? {} : { alsoClose: caller.sid }),
    };
    const newest = await sessions.revokeOwn({ ...own, tokenHash: refreshTokenHash(token) }, revocation);
    if (newest !== undefined) return newest;
    const session = await sessions.find(parts.sessionId);
    if (session === undefined || !refreshTokens.isGenuine(token, Buffer.from(session.nonce.value()))) return undefined;
    return sessions.revokeOwn(own, revocation);
  }

  return async ({ refresh_token: token }, caller, origin) => {
    const { requestId } = origin;
    const session = await revoke(token, caller, requestId);
    if (session === undefined) throw new AppError('ERR-LOGOUT-TARGET-NOT-FOUND');
    audit({ event: 'logout.succeeded', user_id: session.user_id, session_id: session._id }, origin);
    await announce({
      sessionIds: [session._id],
      reason: 'LOGOUT_CONFIRMED',
      requestId,
      at: session.revoked_at ?? now(),
      alsoClose: session.revoked_also_close,
    });
    return {
      message: 'SESSION_TERMINATED',
      details: 'The refresh token has been revoked and the push WebSocket of this device has been closed.',
      timestamp: now().toISOString(),
    };
  };
}
