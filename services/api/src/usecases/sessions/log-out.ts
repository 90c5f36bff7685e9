import type { LogoutRequest, LogoutResponse } from '@auth-account/contracts/http/logout';
import { AppError } from '@auth-account/errors';
import type { OwnSession, Revocation, SessionStore } from '@auth-account/stores';
import type { SessionDocument } from '@auth-account/stores/documents';
import { type RefreshTokens, refreshTokenHash } from '@auth-account/tokens';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Announcement, createAnnounceAgain, type IsDenied } from '../../announcements/announce.ts';
import type { Audit } from '../../audit/audit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { createAwaitKey } from './await-key.ts';

export interface LogOutDeps {
  readonly sessions: Pick<SessionStore, 'find' | 'findConfirmed' | 'revokeOwn' | 'revokeNewest'>;
  readonly refreshTokens: Pick<RefreshTokens, 'parse' | 'isGenuine' | 'hasKey' | 'rereadKeys'>;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly isDenied: IsDenied;
  readonly audit: Audit;
  readonly now: () => Date;
}

/**
 * Logs out (docs/specification/logout.md, "Logout"). The user is always the access token's.
 *
 * Raises `ERR-LOGOUT-TARGET-NOT-FOUND` for anything but a genuine token of a live session of the caller, and
 * `ERR-DEPENDENCY-UNAVAILABLE` if that is not known yet ({@link createAwaitKey}). A session that is over already is
 * announced again first: the logout that ended it may have been answered 503.
 */
export function createLogOut(
  deps: LogOutDeps,
): (input: LogoutRequest, caller: VerifiedAccessToken, origin: RequestOrigin) => Promise<LogoutResponse['data']> {
  const { sessions, refreshTokens, announce, audit, now } = deps;
  const awaitKey = createAwaitKey(deps);
  const announceAgain = createAnnounceAgain(deps);

  /** Returns true if a majority has this very logout, whose answer was lost: nothing can roll it back. */
  async function isConfirmed({ sessionId }: OwnSession, { at, requestId }: Revocation): Promise<boolean> {
    const session = await sessions.findConfirmed(sessionId);
    return session?.revoked_at?.getTime() === at.getTime() && session.revoked_request_id === requestId;
  }

  /** Revokes by any genuine token of the session. It misses only what no rollback brings back. */
  async function revokeAfterReading(token: string, own: OwnSession, revocation: Revocation): Promise<boolean> {
    const { sessionId, userId } = own;
    const seen = await sessions.find(sessionId);
    if (seen !== undefined && seen.user_id !== userId) return false;
    const session = isTarget(seen, userId, revocation.at) ? seen : await sessions.findConfirmed(sessionId);
    if (!isTarget(session, userId, revocation.at)) return false;
    await awaitKey(session);
    if (!refreshTokens.isGenuine(token, Buffer.from(session.nonce.value()))) return false;
    if (!session.is_revoked && (await sessions.revokeOwn(own, revocation))) return true;
    return !(await announceAgain(own.sessionId, revocation.alsoClose)) && sessions.revokeOwn(own, revocation);
  }

  /** Revokes in one write if the token is the newest. Only a miss reads. */
  async function revoke(token: string, own: OwnSession, revocation: Revocation): Promise<boolean> {
    const isRevoked = await sessions.revokeNewest({ ...own, tokenHash: refreshTokenHash(token) }, revocation);
    if (isRevoked || (await revokeAfterReading(token, own, revocation))) return true;
    // The write whose answer was lost may have been what ended the session.
    return isRevoked === undefined && isConfirmed(own, revocation);
  }

  return async ({ refresh_token: token }, { user_id: userId, sid }, origin) => {
    const { requestId } = origin;
    const sessionId = refreshTokens.parse(token)?.sessionId;
    const at = now();
    const other = sid === sessionId ? {} : { alsoClose: sid };
    const isRevoked =
      sessionId !== undefined &&
      (await revoke(token, { sessionId, userId }, { reason: 'logout', at, requestId, ...other }));
    if (!isRevoked) throw new AppError('ERR-LOGOUT-TARGET-NOT-FOUND');
    audit({ event: 'logout.succeeded', user_id: userId, session_id: sessionId }, origin);
    await announce({ sessionIds: [sessionId], reason: 'LOGOUT_CONFIRMED', requestId, at, ...other });
    return {
      message: 'SESSION_TERMINATED',
      details: 'The refresh token has been revoked and the push WebSocket of this device has been closed.',
      timestamp: now().toISOString(),
    };
  };
}

/** Returns true if it is a session of that user which can be ended or has been. An expired one is neither. */
function isTarget(session: SessionDocument | undefined, userId: string, at: Date): session is SessionDocument {
  return session?.user_id === userId && (session.is_revoked || session.expires_at > at);
}
