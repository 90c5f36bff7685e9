import { AppError } from '@auth-account/errors';
import { type Denial, type DenyList, DenyListUnavailable } from '@auth-account/messaging/deny-list';
import type { SessionStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';

export interface AssertNotDeniedDeps {
  readonly denyList: Pick<DenyList, 'find'>;
  /** The source of truth. The deny list is only a copy of it. */
  readonly sessions: Pick<SessionStore, 'findStatus'>;
  /** Called if the list could not be read and MongoDB was read instead. */
  readonly onFallback: () => void;
}

/**
 * Refuses an access token whose session is revoked, or that is older than the session's claims. It reads the deny list.
 * If Redis is away or was emptied, or if the list may be incomplete, it reads MongoDB.
 *
 * Raises `IAD_JWT_ACCESS_INVALID`. If neither store answers, it accepts no token and raises MongoDB's error (503).
 */
export function createAssertNotDenied({ denyList, sessions, onFallback }: AssertNotDeniedDeps) {
  async function find(sessionId: string): Promise<Denial | undefined> {
    try {
      return (await denyList.find([sessionId]))[0];
    } catch (error) {
      if (!(error instanceof DenyListUnavailable)) throw error;
      onFallback();
      const session = await sessions.findStatus(sessionId);
      if (session === undefined || session.is_revoked) return { kind: 'revoked', reason: 'SESSION_REVOKED' };
      return { kind: 'below', ver: session.claims.ver };
    }
  }

  return async ({ sid, ver }: VerifiedAccessToken): Promise<void> => {
    const denial = await find(sid);
    if (denial?.kind === 'revoked' || (denial?.kind === 'below' && ver < denial.ver)) {
      throw new AppError('IAD_JWT_ACCESS_INVALID');
    }
  };
}
