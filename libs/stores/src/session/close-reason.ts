import type { CloseReason } from '@auth-account/contracts';
import type { RevocationReason, SessionDocument } from '../documents.ts';

/** Reasons with which the stream of a revoked session can close. */
export type RevocationCloseReason = Extract<CloseReason, 'LOGOUT_CONFIRMED' | 'SESSION_REPLACED' | 'SESSION_REVOKED'>;

/** Returns how a session's stream closes after a revocation with that reason (docs/push.md, "Close codes"). */
export function closeReasonOf(reason: RevocationReason | undefined): RevocationCloseReason {
  if (reason === 'logout') return 'LOGOUT_CONFIRMED';
  return reason === 'replaced' ? 'SESSION_REPLACED' : 'SESSION_REVOKED';
}

type Ended = Pick<SessionDocument, 'revoked_at' | 'revoked_reason' | 'revoked_request_id'>;

/**
 * Returns the close reason, the request and the time of a session's end from its document, to announce the end again.
 */
export function recordedEnd({ revoked_at, revoked_reason, revoked_request_id }: Ended) {
  return {
    reason: closeReasonOf(revoked_reason),
    requestId: revoked_request_id ?? '',
    at: revoked_at ?? new Date(0),
  };
}
