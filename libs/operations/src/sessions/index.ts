export { listSessions } from './list-sessions.ts';
export { revokeSession } from './revoke-session.ts';
