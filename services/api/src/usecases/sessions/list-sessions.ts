import type { SessionListResponse } from '@auth-account/contracts/http/sessions';
import type { SessionStore, UserStore } from '@auth-account/stores';
import { trustedDevicesOf } from '@auth-account/stores/second-factors';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';

export interface ListSessionsDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly sessions: Pick<SessionStore, 'listOwn'>;
  readonly now: () => Date;
}

/**
 * Lists the caller's live sessions, most recently used first. The account is read only if the login of one of them was
 * trusted, because that trust may have ended since.
 */
export function createListSessions({ users, sessions, now }: ListSessionsDeps) {
  async function trustedIds(userId: string, at: Date): Promise<string[]> {
    const user = await users.find(userId);
    return user === undefined ? [] : trustedDevicesOf(user, at).map(({ device_id }) => device_id);
  }

  return async (caller: VerifiedAccessToken): Promise<SessionListResponse['data']> => {
    const at = now();
    const own = await sessions.listOwn(caller.user_id, at);
    const trusted = own.some(({ is_trusted }) => is_trusted) ? await trustedIds(caller.user_id, at) : [];
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
        trusted: session.is_trusted === true && trusted.includes(session.device_id),
        is_current: session._id === caller.sid,
      })),
      timestamp: at.toISOString(),
    };
  };
}
