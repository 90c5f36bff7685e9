import type { CloseReason } from '@auth-account/contracts';
import type { RevocationReason } from './documents.ts';

/** Returns how the stream of a session closes that was revoked for that reason (decisions, "Push stream"). */
export function closeReasonOf(
  reason: RevocationReason | undefined,
): Extract<CloseReason, 'LOGOUT_CONFIRMED' | 'SESSION_REPLACED' | 'SESSION_REVOKED'> {
  if (reason === 'logout') return 'LOGOUT_CONFIRMED';
  return reason === 'replaced' ? 'SESSION_REPLACED' : 'SESSION_REVOKED';
}
