import type { SessionAuth, SessionDocument } from '../documents.ts';

/** Returns how the session's user has proved who they are. Sessions of earlier releases were opened by a password. */
export function sessionAuth({ auth, created_at }: Pick<SessionDocument, 'auth' | 'created_at'>): SessionAuth {
  return auth ?? { at: created_at, amr: ['pwd'], acr: '1' };
}
