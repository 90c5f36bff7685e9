import type { CloseReason } from '@auth-account/contracts';
import type { RevocationReason, SessionDocument } from './documents.ts';

/** The ways in which the stream of a revoked session closes. */
export type RevocationCloseReason = Extract<CloseReason, 'LOGOUT_CONFIRMED' | 'SESSION_REPLACED' | 'SESSION_REVOKED'>;

/** Returns how the stream of a session closes that was revoked for that reason (decisions, "Push stream"). */
export function closeReasonOf(reason: RevocationReason | undefined): RevocationCloseReason {
  if (reason === 'logout') return 'LOGOUT_CONFIRMED';
  return reason === 'replaced' ? 'SESSION_REPLACED' : 'SESSION_REVOKED';
}

type Ended = Pick<SessionDocument, 'revoked_at' | 'revoked_reason' | 'revoked_request_id'>;

/** Returns how, by which request and when a revoked session ended, as it says itself: to announce that once more. */
export function recordedEnd({ revoked_at, revoked_reason, revoked_request_id }: Ended) {
  return {
    reason: closeReasonOf(revoked_reason),
    requestId: revoked_request_id ?? '',
    at: revoked_at ?? new Date(0),
  };
}
