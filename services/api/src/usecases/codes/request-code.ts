import type { AuthEvent, CodePurpose, Locale } from '@auth-account/contracts/events';
import {
  type ChallengeResponse,
  codeLifeSeconds,
  codeResendSeconds,
  codeResends,
  codeTries,
} from '@auth-account/contracts/http/challenges';
import type { RunTransaction } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import type { ChallengeDocument } from '@auth-account/stores/documents';
import type { EmailCodes } from '@auth-account/tokens';
import type { ClientSession } from 'mongodb';
import type { Audit } from '../../audit/audit.ts';
import type { Ids } from '../../request/ids.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { AnnounceCode } from './announce-code.ts';

export interface RequestCodeDeps {
  readonly challenges: Pick<ChallengeStore, 'insert' | 'exists'>;
  readonly codes: Pick<EmailCodes, 'currentKid'>;
  readonly announceCode: AnnounceCode;
  readonly transaction: RunTransaction;
  readonly audit: Audit;
  readonly ids: Pick<Ids, 'challengeId' | 'entityId'>;
  readonly now: () => Date;
}

/** A code that somebody asks for. */
export interface CodeRequest {
  readonly purpose: CodePurpose;
  /** Undefined if there is no such account. The work and the answer are the same then, and nobody is sent a mail. */
  readonly userId: string | undefined;
  readonly locale: Locale;
  /** The code is sent to nobody, though the challenge is the user's: another account has the address. */
  readonly isWithheld?: boolean;
  /** Event in place of the code. */
  readonly instead?: AuthEvent | undefined;
  /** Writes of the transaction before the challenge. */
  readonly change?: (session: ClientSession) => Promise<void>;
}

export type RequestCode = (request: CodeRequest, origin: RequestOrigin) => Promise<ChallengeResponse['data']>;

/** Milliseconds for which a challenge is kept, so that a code that comes too late is known as such. */
const keptMs = 86_400_000;

/**
 * Creates the request for a code: a challenge, and the event by which the worker sends the code, in one transaction.
 * The caller has counted it for its limits.
 */
export function createRequestCode(deps: RequestCodeDeps): RequestCode {
  const { challenges, announceCode, transaction, audit, now } = deps;
  return async (request, origin) => {
    const { purpose, userId, locale, isWithheld = false, instead, change } = request;
    const at = now();
    const challenge = newChallenge(deps, request, at);
    const to = userId === undefined || isWithheld ? 'nobody' : 'user';
    const announcement = announceCode({ challenge, locale, to, instead, at }, origin);
    const work = async (session: ClientSession) => {
      await change?.(session);
      await challenges.insert(challenge, session);
      await announcement.append(session);
    };
    await transaction(work, { isCommitted: () => challenges.exists(challenge._id) });
    audit({ event: 'code.requested', user_id: userId, purpose }, origin);
    announcement.publish();
    return describeChallenge(challenge, at);
  };
}

function newChallenge({ codes, ids }: RequestCodeDeps, { purpose, userId }: CodeRequest, at: Date): ChallengeDocument {
  const later = (ms: number) => new Date(at.getTime() + ms);
  return {
    _id: ids.challengeId(),
    purpose,
    // An id that nobody has: the challenge counts its tries and expires like any other, and no code is right.
    user_id: userId ?? ids.entityId(),
    kid: codes.currentKid,
    tries_left: codeTries,
    resends_left: codeResends,
    resend_at: later(codeResendSeconds * 1_000),
    created_at: at,
    expires_at: later(codeLifeSeconds * 1_000),
    ended_at: null,
    purge_at: later(keptMs),
  };
}

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
