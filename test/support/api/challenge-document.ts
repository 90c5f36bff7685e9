import { randomUUID } from 'node:crypto';
import type { ChallengeDocument } from '@auth-account/stores/documents';

/** Returns an open challenge of a password reset that was requested at this time, with all tries and resends left. */
export function newChallengeDocument(at: Date, fields: Partial<ChallengeDocument> = {}): ChallengeDocument {
  const after = (seconds: number) => new Date(at.getTime() + seconds * 1_000);
  return {
    _id: randomUUID(),
    purpose: 'password_reset',
    user_id: randomUUID(),
    kid: 'k1',
    tries_left: 5,
    resends_left: 3,
    resend_at: after(60),
    created_at: at,
    expires_at: after(600),
    ended_at: null,
    purge_at: after(86_400),
    ...fields,
  };
}
