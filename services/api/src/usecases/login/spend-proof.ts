import { hash } from 'node:crypto';
import type { TokenResponse } from '@auth-account/contracts/http/login';
import { AppError, isAppError } from '@auth-account/errors';
import type { SessionStore } from '@auth-account/stores';
import type { SpentProofStore } from '@auth-account/stores/spent-proofs';
import type { RefreshTokens } from '@auth-account/tokens';
import type { ClientSession } from 'mongodb';
import type { Audit } from '../../audit/audit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { createAwaitKey } from '../../security/await-key.ts';
import type { IssueTokens } from '../sessions/issue-tokens.ts';

/** A challenge that a login uses up. */
export interface Spend {
  /** The challenge's own random id. */
  readonly id: string;
  /** Everything that must be equal in a repeated request: method, proof and device. */
  readonly proof: readonly unknown[];
  /** Time after which the challenge would no longer count anyway. */
  readonly until: Date;
}

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
 * pair for 60 s, because its first answer may have been lost or may be on its way. Raises `ERR-CODE-EXPIRED` for any
 * other request, and if the session has ended.
 */
export type OncePerChallenge = (
  spend: Spend,
  open: () => Promise<TokenResponse['data']>,
  origin: RequestOrigin,
) => Promise<TokenResponse['data']>;

export interface SpendProofDeps {
  readonly spentProofs: SpentProofStore;
}

export interface OncePerChallengeDeps extends SpendProofDeps {
  readonly sessions: Pick<SessionStore, 'find'>;
  readonly refreshTokens: Pick<RefreshTokens, 'hasKey' | 'rereadKeys'>;
  readonly issueTokens: IssueTokens;
  readonly audit: Audit;
  readonly now: () => Date;
}

/** Milliseconds for which the same request gets the same answer again. */
const repeatMs = 60_000;

/** Creates the function by which a login uses up its challenge. */
export function createSpendProof({ spentProofs }: SpendProofDeps): SpendProof {
  return async ({ id, proof, until }, { sessionId: session_id, at }, transactionSession) => {
    const purge_at = new Date(until.getTime() + repeatMs);
    const spent = { _id: digest(id), proof: digest(JSON.stringify(proof)), session_id, at, purge_at };
    if (!(await spentProofs.spend(spent, transactionSession))) throw new AppError('ERR-CODE-EXPIRED');
  };
}

/** Creates the frame of every login that uses up a challenge. Within `open`, the proof is checked. */
export function createOncePerChallenge(deps: OncePerChallengeDeps): OncePerChallenge {
  const answerRepeat = createAnswerRepeat(deps);
  return async (spend, open, origin) => {
    const earlier = await answerRepeat(spend, origin);
    if (earlier !== undefined) return earlier;
    try {
      return await open();
    } catch (error) {
      // A request that came at the same time may have used up the challenge or its proof since then.
      const later = isAppError(error) && error.status < 500 ? await answerRepeat(spend, origin) : undefined;
      if (later === undefined) throw error;
      return later;
    }
  };
}

/** Creates the function that answers the repeat of a login. It returns undefined if the challenge was not used. */
function createAnswerRepeat(deps: OncePerChallengeDeps) {
  const { spentProofs, sessions, issueTokens, audit, now } = deps;
  const awaitKey = createAwaitKey(deps.refreshTokens, now);
  return async ({ id, proof }: Spend, origin: RequestOrigin): Promise<TokenResponse['data'] | undefined> => {
    const spent = await spentProofs.find(digest(id));
    if (spent === undefined) return;
    const isSame = spent.proof === digest(JSON.stringify(proof)) && spent.at.getTime() + repeatMs > now().getTime();
    const session = isSame && spent.session_id ? await sessions.find(spent.session_id) : undefined;
    if (session === undefined || session.is_revoked) throw new AppError('ERR-CODE-EXPIRED');
    await awaitKey(session);
    audit({ event: 'login.verified', user_id: session.user_id, session_id: session._id }, origin);
    return issueTokens(session);
  };
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}
