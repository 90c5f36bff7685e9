import { AppError } from '@auth-account/errors';
import { type Denial, type DenyList, DenyListUnavailable } from '@auth-account/messaging/deny-list';
import type { SessionStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/tokens';

export interface AssertNotDeniedDeps {
  readonly denyList: Pick<DenyList, 'find'>;
  /** The truth behind the list. */
  readonly sessions: Pick<SessionStore, 'findStanding'>;
  /** The list could not be asked, and MongoDB was. */
  readonly onFallback: () => void;
}

/**
 * Creates the last check of an access token: is its session revoked, or the token older than the session's claims? It
 * asks the deny list, and MongoDB if Redis is away, was emptied, or is not known to be complete; never does it mean
 * "allow" that nobody could be asked.
 *
 * Raises `IAD_JWT_ACCESS_INVALID`; if MongoDB is away too, its error, which is a 503.
 */
export function createAssertNotDenied({ denyList, sessions, onFallback }: AssertNotDeniedDeps) {
  async function find(sessionId: string): Promise<Denial | undefined> {
    try {
      return (await denyList.find([sessionId]))[0];
    } catch (error) {
      if (!(error instanceof DenyListUnavailable)) throw error;
      onFallback();
      const standing = await sessions.findStanding(sessionId);
      if (standing === undefined || standing.is_revoked) return { kind: 'revoked', reason: 'SESSION_REVOKED' };
      return { kind: 'below', ver: standing.claims.ver };
    }
  }

  return async ({ sid, ver }: VerifiedAccessToken): Promise<void> => {
    const denial = await find(sid);
    if (denial?.kind === 'revoked' || (denial?.kind === 'below' && ver < denial.ver)) {
      throw new AppError('IAD_JWT_ACCESS_INVALID');
    }
  };
}
