import type { TokenResponse } from '@auth-account/contracts/http/login';
import { AppError, isAppError } from '@auth-account/errors';
import type { SessionStore } from '@auth-account/stores';
import type { SpentProofDocument } from '@auth-account/stores/documents';
import type { SpentProofStore } from '@auth-account/stores/spent-proofs';
import { MissingKeyError, type RefreshTokens } from '@auth-account/tokens';
import type { Audit } from '../../audit/audit.ts';
import { provenKey, type RequestOrigin } from '../../request/request-origin.ts';
import { createAwaitKey } from '../../security/await-key.ts';
import type { ServerSecrets } from '../../security/server-secrets.ts';
import type { IssueTokens } from '../sessions/session.ts';
import { type Spend, spentBy } from './use-proof.ts';

/**
 * Returns the answer of `work`, which checks the proof and uses the challenge up. If the challenge was used before, the
 * same request gets the answer of `again` for 60 s, because its first answer may have been lost or may be on its way.
 * Raises `ERR-CODE-EXPIRED` for any other request, and throws {@link MissingKeyError} (503) if another api used a key
 * that has not arrived here yet.
 */
export type OncePerProof = <T>(
  spend: Spend,
  work: () => Promise<T>,
  again: (spent: SpentProofDocument) => Promise<T>,
) => Promise<T>;

export interface OncePerProofDeps {
  readonly spentProofs: Pick<SpentProofStore, 'find'>;
  readonly secrets: ServerSecrets;
  readonly now: () => Date;
}

/** Milliseconds for which the same request gets the same answer again. */
const repeatMs = 60_000;

/** Creates the frame of every request that uses up a challenge. */
export function createOncePerProof({ spentProofs, secrets, now }: OncePerProofDeps): OncePerProof {
  async function findEarlier(spend: Spend): Promise<SpentProofDocument | undefined> {
    const spent = await spentProofs.find(spentBy(spend, secrets())._id);
    if (spent === undefined) return;
    if (spent.at.getTime() + repeatMs <= now().getTime()) throw new AppError('ERR-CODE-EXPIRED');
    const own = secrets().map((secret) => spentBy(spend, [secret]));
    if (own.some(({ proof }) => proof === spent.proof)) return spent;
    const hasKey = spent.key === undefined || own.some(({ key }) => key === spent.key);
    if (!hasKey) throw new MissingKeyError(undefined);
    throw new AppError('ERR-CODE-EXPIRED');
  }

  return async (spend, work, again) => {
    const earlier = await findEarlier(spend);
    if (earlier !== undefined) return again(earlier);
    try {
      return await work();
    } catch (error) {
      // A request that came at the same time may have used up the challenge or its proof since then.
      const later = isAppError(error) && error.status < 500 ? await findEarlier(spend) : undefined;
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
  spend: Spend,
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

/** Creates the frame of every login that uses up a challenge. Within `open`, the proof is checked. */
export function createOncePerChallenge(deps: OncePerChallengeDeps): OncePerChallenge {
  const oncePerProof = createOncePerProof(deps);
  const answerAgain = createAnswerAgain(deps);
  return (spend, open, origin) => oncePerProof(spend, open, (spent) => answerAgain(spent, origin));
}

/** Creates the function that answers the repeat of a login. The session was opened together with the use. */
function createAnswerAgain({ sessions, refreshTokens, issueTokens, audit, now }: OncePerChallengeDeps) {
  const awaitKey = createAwaitKey(refreshTokens, now, 'refresh');
  return async ({ session_id = '' }: SpentProofDocument, origin: RequestOrigin): Promise<TokenResponse['data']> => {
    const session = await sessions.find(session_id);
    if (session === undefined || session.is_revoked) throw new AppError('ERR-CODE-EXPIRED');
    await awaitKey(session);
    audit({ event: 'login.verified', user_id: session.user_id, session_id: session._id }, origin);
    return issueTokens(session);
  };
}
