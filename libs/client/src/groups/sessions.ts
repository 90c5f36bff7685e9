import { type ClientGroup, endWith, methodsOf, sessionOf } from '../calls/client-group.ts';
import { type SessionsMethods, sessionsMethods } from '../generated/methods.ts';

export interface Sessions {
  readonly sessions: SessionsWithOwn;
}

interface SessionsWithOwn extends SessionsMethods {
  /** Ends a session. If it is this device's own session, the user is signed out here too. */
  revoke: SessionsMethods['revoke'];
  /** Ends all sessions, this one too. */
  revokeAll(): ReturnType<SessionsMethods['revokeAll']>;
  /** Ends all sessions except this one. */
  revokeOthers(): ReturnType<SessionsMethods['revokeAll']>;
}

/** Operations on the user's sessions. */
export const sessions: ClientGroup<Sessions> = ({ call, sessionManager }) => {
  const plain = methodsOf(sessionsMethods, call);
  return {
    sessions: {
      ...plain,
      async revoke(session_id) {
        const data = await plain.revoke(session_id);
        if (sessionOf(sessionManager)?.session_id === session_id) await sessionManager.end('logged_out', false);
        return data;
      },
      revokeAll: () => endWith(sessionManager, 'logged_out', () => plain.revokeAll()),
      revokeOthers: () => plain.revokeAll({ except_current: true }),
    },
  };
};
