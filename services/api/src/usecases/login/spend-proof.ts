import type { TokenResponse } from '@auth-account/contracts/http/login';
import { AppError } from '@auth-account/errors';
import type { SessionStore } from '@auth-account/stores';
import type { SpentProofDocument } from '@auth-account/stores/documents';
import type { SpentProofStore } from '@auth-account/stores/spent-proofs';
import type { RefreshTokens } from '@auth-account/tokens';
import type { ClientSession } from 'mongodb';
import type { Audit } from '../../audit/audit.ts';
import { provenKey, type RequestOrigin } from '../../request/request-origin.ts';
import { createAwaitKey } from '../../security/await-key.ts';
import type { ServerSecrets } from '../../security/server-secrets.ts';
import { createOncePerProof, type OncePerProofDeps, type Spend, spentBy } from '../proofs/once-per-proof.ts';
import type { IssueTokens } from '../sessions/issue-tokens.ts';

/** The session that uses up a challenge. */
export interface SpentBy {
  readonly sessionId: string;
  readonly at: Date;
}

/**
 * Marks the challenge as used, in the transaction of the login and before the session exists. Raises
 * `ERR-CODE-EXPIRED` if it was used before.
 */
export type SpendProof = (spend: Spend, by: SpentBy, transactionSession: ClientSession) => Promise<void>;

/**
 * Logs in by `open` if the challenge was not used yet. If it was, the same request gets the same session's newest token
 * pair for 60 s. Raises `ERR-CODE-EXPIRED` for any other request, and if the session has ended.
 */
export type OncePerChallenge = (
  spend: Spend,
  open: () => Promise<TokenResponse['data']>,
  origin: RequestOrigin,
) => Promise<TokenResponse['data']>;

export interface SpendProofDeps {
  readonly spentProofs: Pick<SpentProofStore, 'spend'>;
  readonly secrets: ServerSecrets;
}

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

/** Creates the function by which a login uses up its challenge. */
export function createSpendProof({ spentProofs, secrets }: SpendProofDeps): SpendProof {
  return async (spend, { sessionId: session_id, at }, transactionSession) => {
    const isFirst = await spentProofs.spend({ ...spentBy(spend, secrets()), session_id, at }, transactionSession);
    if (!isFirst) throw new AppError('ERR-CODE-EXPIRED');
  };
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
