import type { LogoutAllRequest, LogoutAllResponse } from '@auth-account/contracts/http/sessions';
import { AppError } from '@auth-account/errors';
import type { SessionStore, UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type AnnounceAgainDeps, createAnnounceAgain } from '../../announcements/announce.ts';
import { type Commit, none } from '../../announcements/commit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';

export interface LogOutAllDeps extends AnnounceAgainDeps {
  readonly users: Pick<UserStore, 'touchSessions'>;
  readonly sessions: Pick<
    SessionStore,
    'revokeOf' | 'revokeAll' | 'findDevice' | 'areRevoked' | 'findConfirmed' | 'holdOf'
  >;
  readonly commit: Commit;
  readonly now: () => Date;
}

/**
 * Ends all of the caller's sessions, or all except the present one. It writes the user's document, like every login, so
 * that it misses no login. The account forgets all devices except the caller's. Streams close with 4001, the caller's
 * own stream with 1000.
 *
 * Raises `IAD_JWT_ACCESS_INVALID` if the caller's session has ended. That end is announced again, because the request
 * that ended it may have been answered 503.
 */
export function createLogOutAll(deps: LogOutAllDeps) {
  const { users, sessions, commit, now } = deps;
  const announceAgain = createAnnounceAgain(deps);
  return async (
    { except_current = false }: LogoutAllRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<LogoutAllResponse['data']> => {
    const { requestId } = origin;
    const { user_id, sid: session_id } = caller;
    const at = now();
    const known = await sessions.findDevice(session_id);
    let all: readonly string[] = [];
    await commit(
      {
        at,
        // These logouts run one after the other for each account, because each writes the user's document, and parallel
        // logouts would conflict.
        lockKey: user_id,
        hold: sessions.holdOf([user_id]),
        // If no session was left to end, no write shows that the change has taken effect, so it is tried again.
        isCommitted: async () => all.length > 0 && sessions.areRevoked(all),
        // An app that has given up may have logged in again. The new session must live.
        ifClientLeft: 'abort',
        async work(session) {
          const isThere = await users.touchSessions(user_id, at, session, known);
          if (!isThere) throw new AppError('IAD_JWT_ACCESS_INVALID');
          const revocation = { reason: 'revoked_by_user', at, requestId, by: session_id } as const;
          const { ended: others } = await sessions.revokeOf(user_id, revocation, session, session_id);
          const own = except_current ? [] : [session_id];
          await sessions.revokeAll(own, { reason: 'logout', at, requestId }, session);
          all = [...others, ...own];
          return {
            events: none,
            audit: [{ event: 'logout.all', user_id, session_id }],
            sessions: [
              { userId: user_id, reason: 'revoked_by_user', sessionIds: others },
              { userId: user_id, reason: 'logout', sessionIds: own },
            ],
          };
        },
      },
      origin,
    ).catch(async (error: unknown) => {
      if (error instanceof AppError && error.code === 'IAD_JWT_ACCESS_INVALID') await announceAgain(session_id);
      throw error;
    });
    const terminated_sessions = all.length;
    return { message: 'SESSIONS_TERMINATED', terminated_sessions, timestamp: now().toISOString() };
  };
}
