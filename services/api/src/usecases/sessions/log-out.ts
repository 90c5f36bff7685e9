import type { LogoutRequest, LogoutResponse } from '@auth-account/contracts/http/logout';
import { AppError } from '@auth-account/errors';
import type { OwnSession, SessionStore, TrustKeepingRevocation } from '@auth-account/stores';
import type { SessionDocument } from '@auth-account/stores/documents';
import { type RefreshTokens, refreshTokenHash } from '@auth-account/tokens';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Announcement, createAnnounceAgain, type IsDenied } from '../../announcements/announce.ts';
import type { Audit } from '../../audit/audit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { createAwaitKey } from '../../security/await-key.ts';

export interface LogOutDeps {
  readonly sessions: Pick<SessionStore, 'find' | 'findConfirmed' | 'revokeOwn' | 'revokeNewest'>;
  readonly refreshTokens: Pick<RefreshTokens, 'parse' | 'isGenuine' | 'hasKey' | 'rereadKeys'>;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly isDenied: IsDenied;
  readonly audit: Audit;
  readonly now: () => Date;
}

/**
 * Logs out (docs/specification/logout.md, "Logout"). The user always comes from the access token.
 *
 * Raises `ERR-LOGOUT-TARGET-NOT-FOUND` unless the token is a genuine token of a live session of the caller, and
 * `ERR-DEPENDENCY-UNAVAILABLE` if its key has not arrived here yet ({@link createAwaitKey}). If the session is over
 * already, its end is first announced again, because the logout that ended it may have been answered 503.
 */
export function createLogOut(
  deps: LogOutDeps,
): (input: LogoutRequest, caller: VerifiedAccessToken, origin: RequestOrigin) => Promise<LogoutResponse['data']> {
  const { sessions, refreshTokens, announce, audit, now } = deps;
  const awaitKey = createAwaitKey(refreshTokens, now, 'refresh');
  const announceAgain = createAnnounceAgain(deps);

  /** Returns true if this logout has ended the session, although its write got no answer. */
  async function isEndedBy({ sessionId }: OwnSession, { at, requestId }: TrustKeepingRevocation): Promise<boolean> {
    const session = await sessions.findConfirmed(sessionId);
    return session?.revoked_at?.getTime() === at.getTime() && session.revoked_request_id === requestId;
  }

  /** Finds the caller's session to which the genuine token belongs. The session is live, or was ended. */
  async function findTarget(token: string, { sessionId, userId }: OwnSession, at: Date) {
    const session = await sessions.find(sessionId);
    if (!isTarget(session, userId, at)) return;
    await awaitKey(session);
    return refreshTokens.isGenuine(token, Buffer.from(session.nonce.value())) ? session : undefined;
  }

  /**
   * Ends the session by any of its genuine tokens. Returns false if the token has no such session, or the session is
   * over.
   */
  async function endByAnyToken(token: string, own: OwnSession, revocation: TrustKeepingRevocation): Promise<boolean> {
    const target = await findTarget(token, own, revocation.at);
    if (target === undefined) return false;
    if (!target.is_revoked && (await sessions.revokeOwn(own, revocation))) return true;
    const isOver = await announceAgain(own.sessionId, revocation.alsoClose);
    return isOver ? false : sessions.revokeOwn(own, revocation);
  }

  /**
   * Ends the session. With the session's newest token this needs only one write. With any other token the session is
   * read first.
   */
  async function end(token: string, own: OwnSession, revocation: TrustKeepingRevocation): Promise<boolean> {
    const isEnded = await sessions.revokeNewest({ ...own, tokenHash: refreshTokenHash(token) }, revocation);
    if (isEnded) return true;
    if (await endByAnyToken(token, own, revocation)) return true;
    // The first write may have ended the session, although its answer was lost.
    return isEnded === undefined && isEndedBy(own, revocation);
  }

  return async ({ refresh_token: token }, { user_id: userId, sid }, origin) => {
    const { requestId } = origin;
    const sessionId = refreshTokens.parse(token)?.sessionId;
    const at = now();
    const other = sid === sessionId ? {} : { alsoClose: sid };
    if (sessionId === undefined) throw new AppError('ERR-LOGOUT-TARGET-NOT-FOUND');
    const isEnded = await end(token, { sessionId, userId }, { reason: 'logout', at, requestId, ...other });
    if (!isEnded) throw new AppError('ERR-LOGOUT-TARGET-NOT-FOUND');
    origin.onCommitted?.();
    audit({ event: 'logout.succeeded', user_id: userId, session_id: sessionId }, origin);
    await announce({ sessionIds: [sessionId], reason: 'LOGOUT_CONFIRMED', requestId, at, ...other });
    return {
      message: 'SESSION_TERMINATED',
      details: 'The refresh token has been revoked and the push WebSocket of this device has been closed.',
      timestamp: now().toISOString(),
    };
  };
}

/** Returns true if the session belongs to that user and is either revoked, or live and not expired. */
function isTarget(session: SessionDocument | undefined, userId: string, at: Date): session is SessionDocument {
  return session?.user_id === userId && (session.is_revoked || session.expires_at > at);
}
