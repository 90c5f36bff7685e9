import type { CloseReason } from '@auth-account/contracts';
import type { RevocationReason } from './documents.ts';

/** The ways in which the stream of a revoked session closes. */
export type RevocationCloseReason = Extract<CloseReason, 'LOGOUT_CONFIRMED' | 'SESSION_REPLACED' | 'SESSION_REVOKED'>;

/** Returns how the stream of a session closes that was revoked for that reason (decisions, "Push stream"). */
export function closeReasonOf(reason: RevocationReason | undefined): RevocationCloseReason {
  if (reason === 'logout') return 'LOGOUT_CONFIRMED';
  return reason === 'replaced' ? 'SESSION_REPLACED' : 'SESSION_REVOKED';
}
