import type { ChallengeResponse } from '@auth-account/contracts/http/challenges';
import type { ChallengeDocument } from '@auth-account/stores/documents';

/** Returns the challenge as the app that asked for it sees it. */
export function describeChallenge(challenge: ChallengeDocument, at: Date): ChallengeResponse['data'] {
  const { _id, expires_at, resends_left, resend_at } = challenge;
  return {
    challenge_id: _id,
    expires_at: expires_at.toISOString(),
    resend_at: resends_left > 0 ? resend_at.toISOString() : null,
    timestamp: at.toISOString(),
  };
}
