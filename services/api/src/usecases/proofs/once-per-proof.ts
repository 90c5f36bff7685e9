import type { TokenResponse } from '@auth-account/contracts/http/login';
import { AppError, isAppError } from '@auth-account/errors';
import type { SessionStore } from '@auth-account/stores';
import type { ConsumedProofStore } from '@auth-account/stores/consumed-proofs';
import type { ConsumedProofDocument } from '@auth-account/stores/documents';
import { MissingKeyError, type RefreshTokens } from '@auth-account/tokens';
import type { Audit } from '../../audit/audit.ts';
import { provenKey, type RequestOrigin } from '../../request/request-origin.ts';
import { createAwaitKey } from '../../security/await-key.ts';
import type { ServerSecrets } from '../../security/server-secrets.ts';
import type { IssueTokens } from '../sessions/session.ts';
import { type ChallengeUse, consumedBy } from './consume-proof.ts';

/**
 * Returns the answer of `work`, which checks the proof and uses the challenge up. If the challenge was used before, the
 * same request gets the answer of `again` for 60 s, because its first answer may have been lost or may be on its way.
 * Raises `ERR-CODE-EXPIRED` for any other request, and throws {@link MissingKeyError} (503) if another api used a key
 * that has not arrived here yet.
 */
export type OncePerProof = <T>(
  challengeUse: ChallengeUse,
  work: () => Promise<T>,
  again: (consumed: ConsumedProofDocument) => Promise<T>,
) => Promise<T>;

export interface OncePerProofDeps {
  readonly consumedProofs: Pick<ConsumedProofStore, 'find'>;
  readonly secrets: ServerSecrets;
  readonly now: () => Date;
}

/** Milliseconds for which the same request gets the same answer again. */
const repeatMs = 60_000;

/** Runs every request that uses up a challenge. */
export function createOncePerProof({ consumedProofs, secrets, now }: OncePerProofDeps): OncePerProof {
  async function findEarlier(challengeUse: ChallengeUse): Promise<ConsumedProofDocument | undefined> {
    const consumed = await consumedProofs.find(consumedBy(challengeUse, secrets())._id);
    if (consumed === undefined) return;
    if (consumed.at.getTime() + repeatMs <= now().getTime()) throw new AppError('ERR-CODE-EXPIRED');
    const own = secrets().map((secret) => consumedBy(challengeUse, [secret]));
    if (own.some(({ proof }) => proof === consumed.proof)) return consumed;
    const hasKey = consumed.key === undefined || own.some(({ key }) => key === consumed.key);
    if (!hasKey) throw new MissingKeyError(undefined);
    throw new AppError('ERR-CODE-EXPIRED');
  }

  return async (challengeUse, work, again) => {
    const earlier = await findEarlier(challengeUse);
    if (earlier !== undefined) return again(earlier);
    try {
      return await work();
    } catch (error) {
      // A request that came at the same time may have used up the challenge or its proof since then.
      const later = isAppError(error) && error.status < 500 ? await findEarlier(challengeUse) : undefined;
      if (later === undefined) throw error;
      return again(later);
    }
  };
}

/**
 * Logs in by `open` if the challenge was not used yet. If it was, the same request gets the same session's newest token
 * pair for 60 s. Raises `ERR-CODE-EXPIRED` for any other request, and if the session has ended.
 */
export type OncePerChallenge = (
  challengeUse: ChallengeUse,
  open: () => Promise<TokenResponse['data']>,
  origin: RequestOrigin,
) => Promise<TokenResponse['data']>;

export interface OncePerChallengeDeps extends OncePerProofDeps {
  readonly sessions: Pick<SessionStore, 'find'>;
  readonly refreshTokens: Pick<RefreshTokens, 'hasKey' | 'rereadKeys'>;
  readonly issueTokens: IssueTokens;
  readonly audit: Audit;
}

/** Returns the part of each login's proof by which a repeat must come from the same device. */
export function deviceOfProof(deviceId: string | null | undefined, origin: RequestOrigin): readonly unknown[] {
  return [deviceId?.toLowerCase() ?? null, provenKey(origin) ?? null];
}

/** Runs every login that uses up a challenge. Within `open`, the proof is checked. */
export function createOncePerChallenge(deps: OncePerChallengeDeps): OncePerChallenge {
  const oncePerProof = createOncePerProof(deps);
  const answerAgain = createAnswerAgain(deps);
  return (challengeUse, open, origin) => oncePerProof(challengeUse, open, (consumed) => answerAgain(consumed, origin));
}

/** Answers the repeat of a login. The session was opened together with the use. */
function createAnswerAgain({ sessions, refreshTokens, issueTokens, audit, now }: OncePerChallengeDeps) {
  const awaitKey = createAwaitKey(refreshTokens, now, 'refresh');
  return async ({ session_id = '' }: ConsumedProofDocument, origin: RequestOrigin): Promise<TokenResponse['data']> => {
    const session = await sessions.find(session_id);
    if (session === undefined || session.is_revoked) throw new AppError('ERR-CODE-EXPIRED');
    await awaitKey(session);
    audit({ event: 'login.verified', user_id: session.user_id, session_id: session._id }, origin);
    return issueTokens(session);
  };
}
