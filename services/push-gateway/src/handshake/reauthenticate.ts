import { type AppError as AnyAppError, AppError, isAppError } from '@auth-account/errors';
import { closeReasonOf, type DenyList, DenyListUnavailable } from '@auth-account/messaging/deny-list';
import type { Logger } from '@auth-account/telemetry';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Connection, closeConnection, sendFrame } from '../streams/connection.ts';
import type { ExpirySweep } from '../streams/expiry-sweep.ts';
import type { AuditRefusal } from './audit-refusal.ts';

export interface ReauthenticateDeps {
  readonly verifyAccessToken: (token: string) => Promise<VerifiedAccessToken>;
  readonly denyList: Pick<DenyList, 'find'>;
  readonly expiry: Pick<ExpirySweep, 'extend'>;
  readonly auditRefusal: AuditRefusal;
  readonly logger: Logger;
}

/**
 * Handles `auth` frames. A valid token of the same session and group extends the stream (`auth_ok`). A newer token of
 * another group closes the stream with 4004. If the deny list has the session, the stream closes for the listed reason.
 * For any other token, or if Redis is away, an `error` frame says why, and the stream lasts as long as before. The
 * handler takes one frame at a time, and answers `ERR-RATE-LIMITED` to further frames.
 */
export function createReauthenticate(
  deps: ReauthenticateDeps,
): (connection: Connection, token: string) => Promise<void> {
  const { verifyAccessToken, denyList, expiry, auditRefusal, logger } = deps;

  async function extend(connection: Connection, token: string): Promise<void> {
    const claims = await verifyAccessToken(token);
    if (claims.sid !== connection.sessionId) throw new AppError('ERR-STREAM-SESSION-MISMATCH');
    const ver = Math.max(claims.ver, connection.ver);
    const hasMoved = claims.home_group_id !== connection.groupId;
    if (hasMoved && claims.ver > connection.ver) {
      closeConnection(connection, 'GROUP_CHANGED');
      return;
    }
    const [denial] = await denyList.find([claims.sid]);
    const reason = closeReasonOf(denial, ver);
    if (reason !== undefined) {
      closeConnection(connection, reason);
      return;
    }
    // The token is older than the session's newest, so it is refused, but the stream itself is valid.
    if (hasMoved || closeReasonOf(denial, claims.ver) !== undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    if (connection.socket === undefined) return;
    connection.ver = ver;
    expiry.extend(connection, claims.exp);
    sendFrame(connection, { type: 'auth_ok', expires_at: new Date(connection.expiresAt * 1_000).toISOString() });
  }

  function toAppError(error: unknown): AnyAppError {
    if (isAppError(error)) return error;
    if (error instanceof DenyListUnavailable) return new AppError('ERR-DEPENDENCY-UNAVAILABLE', { cause: error });
    logger.error({ err: error }, 'auth frame failed');
    return new AppError('ERR-INTERNAL', { cause: error });
  }

  return async (connection, token) => {
    if (connection.isAuthenticating) {
      sendFrame(connection, { type: 'error', error_code: 'ERR-RATE-LIMITED' });
      return;
    }
    connection.isAuthenticating = true;
    try {
      await extend(connection, token);
    } catch (error) {
      const refusal = toAppError(error);
      auditRefusal(refusal, { session_id: connection.sessionId });
      sendFrame(connection, { type: 'error', error_code: refusal.code });
    } finally {
      connection.isAuthenticating = false;
    }
  };
}
