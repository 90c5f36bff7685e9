import { closeReasonOf } from './close-reason.ts';
import type { SessionDocument } from './documents.ts';

type Ended = Pick<SessionDocument, 'revoked_at' | 'revoked_reason' | 'revoked_request_id'>;

/** Returns how, by which request and when a revoked session ended, as it says itself: to announce that once more. */
export function recordedEnd({ revoked_at, revoked_reason, revoked_request_id }: Ended) {
  return {
    reason: closeReasonOf(revoked_reason),
    requestId: revoked_request_id ?? '',
    at: revoked_at ?? new Date(0),
  };
}
