import type { LogoutAllRequest, LogoutAllResponse } from '@auth-account/contracts/http/sessions';
import { AppError } from '@auth-account/errors';
import { closeReasonOf, type RunTransaction, type SessionStore, type UserStore } from '@auth-account/stores';
import type { RevocationReason } from '@auth-account/stores/documents';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { ClientSession } from 'mongodb';
import { type Announcement, createAnnounceAgain, type IsDenied } from '../../announcements/announce.ts';
import type { Audit } from '../../audit/audit.ts';
import { assertClientConnected } from '../../request/assert-client-connected.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';

export interface LogOutAllDeps {
  readonly users: Pick<UserStore, 'touchSessions'>;
  readonly sessions: Pick<SessionStore, 'listLive' | 'revokeAll' | 'areRevoked' | 'findConfirmed' | 'holdOf'>;
  readonly transaction: RunTransaction;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly isDenied: IsDenied;
  readonly audit: Audit;
  readonly now: () => Date;
}

/**
 * Ends the caller's sessions, all of them or all others. It writes the user's document, like every login, so that it
 * misses no login. The account knows no other device than the caller's from then on. Streams close with 4001, the
 * caller's own with 1000. If the caller's session was over already it is announced again: the request that ended it may
 * have been answered 503.
 */
export function createLogOutAll(deps: LogOutAllDeps) {
  const { users, sessions, transaction, announce, audit, now } = deps;
  const announceAgain = createAnnounceAgain(deps);
  return async (
    { except_current = false }: LogoutAllRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<LogoutAllResponse['data']> => {
    const { requestId } = origin;
    const at = now();
    let ended: readonly { reason: RevocationReason; ids: string[] }[] = [];
    let isOver = false;
    const work = async (session: ClientSession) => {
      const isThere = await users.touchSessions(caller.user_id, at, session, [caller.device_id]);
      if (!isThere) throw new AppError('IAD_JWT_ACCESS_INVALID');
      const live = (await sessions.listLive(caller.user_id, session)).map(({ _id }) => _id);
      isOver = !live.includes(caller.sid);
      ended = [
        { reason: 'revoked_by_user', ids: live.filter((id) => id !== caller.sid) },
        { reason: 'logout', ids: except_current ? [] : live.filter((id) => id === caller.sid) },
      ];
      for (const { reason, ids } of ended) {
        const by = reason === 'logout' ? {} : { by: caller.sid };
        await sessions.revokeAll(ids, { reason, at, requestId, ...by }, session);
      }
      // An app that has given up may have logged in again: that session must live.
      assertClientConnected(origin);
    };
    const isCommitted = async () => {
      const all = ended.flatMap(({ ids }) => ids);
      // If nothing was left to end, nothing written shows that, and it may have been rolled back: it is tried again.
      return all.length > 0 && sessions.areRevoked(all);
    };
    // Of one account one after the other: each writes the user's document, and parallel tries would conflict.
    const { user_id } = caller;
    await transaction(work, { isCommitted, lockKey: user_id, hold: sessions.holdOf([user_id], now) });
    audit({ event: 'logout.all', user_id, session_id: caller.sid }, origin);
    for (const { reason, ids } of ended) {
      for (const session_id of ids) audit({ event: 'session.revoked', user_id, session_id, reason }, origin);
    }
    const announced = ended.map(({ reason, ids }) =>
      announce({ sessionIds: ids, reason: closeReasonOf(reason), requestId, at }),
    );
    await Promise.all([...announced, isOver ? announceAgain(caller.sid) : undefined]);
    const terminated_sessions = ended.flatMap(({ ids }) => ids).length;
    return { message: 'SESSIONS_TERMINATED', terminated_sessions, timestamp: now().toISOString() };
  };
}
