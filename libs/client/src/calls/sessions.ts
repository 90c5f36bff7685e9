import type { Data } from './call.ts';
import { type ClientGroupDeps, endWith, sessionOf } from './client-group.ts';

export type Sessions = ReturnType<typeof createSessions>;

/** Creates the operations on the user's devices. Each raises `AuthError` with the codes of docs/api.md. */
export function createSessions({ call, keeper }: ClientGroupDeps) {
  return {
    /** The devices that are logged in. */
    list: async (): Promise<Data<'listSessions'>['sessions']> => (await call('listSessions')).sessions,
    /** Ends the session of a device. If it is this one, it is signed out here too. */
    async revoke(session_id: string): Promise<void> {
      await call('revokeSession', { params: { session_id } });
      if (sessionOf(keeper)?.session_id === session_id) await keeper.end('logged_out', false);
    },
    /** Ends all sessions but this one. Returns their number. */
    async revokeOthers(): Promise<number> {
      return (await call('logOutAll', { body: { except_current: true } })).terminated_sessions;
    },
    /** Ends all sessions, this one too. */
    async revokeAll(): Promise<number> {
      const logOutAll = () => call('logOutAll', { body: {} });
      return (await endWith(keeper, 'logged_out', logOutAll)).terminated_sessions;
    },
  };
}
