import type { SessionListResponse } from '@auth-account/contracts/http/sessions';
import type { SessionStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';

export interface ListSessionsDeps {
  readonly sessions: Pick<SessionStore, 'listOwn'>;
  readonly now: () => Date;
}

/** Lists the caller's live sessions, most recently used first. */
export function createListSessions({ sessions, now }: ListSessionsDeps) {
  return async (caller: VerifiedAccessToken): Promise<SessionListResponse['data']> => {
    const at = now();
    const own = await sessions.listOwn(caller.user_id, at);
    return {
      sessions: own.map((session) => ({
        session_id: session._id,
        device_id: session.device_id,
        device_name: session.device_name,
        platform: session.platform,
        created_at: session.created_at.toISOString(),
        last_used_at: session.last_used_at.toISOString(),
        expires_at: session.expires_at.toISOString(),
        bound: session.cnf !== undefined,
        is_current: session._id === caller.sid,
      })),
      timestamp: at.toISOString(),
    };
  };
}
