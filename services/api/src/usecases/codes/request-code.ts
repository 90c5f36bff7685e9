import type { AuthEvent, CodePurpose, Locale } from '@auth-account/contracts/events';
import {
  type ChallengeResponse,
  codeLifeSeconds,
  codeResendSeconds,
  codeResends,
  codeTries,
} from '@auth-account/contracts/http/challenges';
import { eventOrigin } from '@auth-account/messaging';
import { codeRequestedEvent } from '@auth-account/messaging/account-events';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import type { ChallengeDocument } from '@auth-account/stores/documents';
import type { EmailCodes } from '@auth-account/tokens';
import type { ClientSession } from 'mongodb';
import { type Commit, none, type QuietEvent } from '../../announcements/commit.ts';
import type { Ids } from '../../request/ids.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';

export interface RequestCodeDeps {
  readonly challenges: Pick<ChallengeStore, 'insert' | 'exists'>;
  readonly codes: Pick<EmailCodes, 'currentKid'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'challengeId' | 'entityId'>;
  readonly now: () => Date;
}

/** The link of an identity that needs a code. */
export interface CodeLink {
  /** Digest of its challenge. */
  readonly id: string;
  readonly provider: string;
}

/** A request for a code. */
export interface CodeRequest {
  readonly purpose: CodePurpose;
  /** Undefined if there is no such account. The work and the answer are the same then, but no mail is sent. */
  readonly userId: string | undefined;
  readonly locale: Locale;
  /** True if another account has the email address. The challenge is the user's, but the code is not sent. */
  readonly isWithheld?: boolean;
  /** The link of an identity for which alone the code counts. Its code is not sent again. */
  readonly link?: CodeLink;
  /** Event that is published instead of the event for the code. */
  readonly instead?: AuthEvent | undefined;
  /** Makes further writes in the transaction, before the challenge is stored. */
  readonly change?: (session: ClientSession) => Promise<void>;
}

export type RequestCode = (request: CodeRequest, origin: RequestOrigin) => Promise<ChallengeResponse['data']>;

/** Milliseconds for which a challenge is kept, so that a code that comes too late can be answered as expired. */
const keptMs = 86_400_000;

/**
 * Stores, in one transaction, a challenge and the event by which the worker sends the code. Its caller must have
 * counted the request for the limits.
 */
export function createRequestCode(deps: RequestCodeDeps): RequestCode {
  const { challenges, commit, now } = deps;
  return async (request, origin) => {
    const { purpose, userId, locale, isWithheld = false, link, instead, change } = request;
    const at = now();
    const challenge = newChallenge(deps, request, at);
    const to = userId === undefined || isWithheld ? 'nobody' : 'user';
    const event = codeEvent(deps, { challenge, locale, to, provider: link?.provider, instead, at }, origin);
    await commit(
      {
        at,
        isCommitted: () => challenges.exists(challenge._id),
        ifClientLeft: 'commit',
        async work(session) {
          await change?.(session);
          await challenges.insert(challenge, session);
          return { events: [event], audit: [{ event: 'code.requested', user_id: userId, purpose }], sessions: none };
        },
      },
      origin,
    );
    return describeChallenge(challenge, at);
  };
}

function newChallenge(
  { codes, ids }: RequestCodeDeps,
  { purpose, userId, link }: CodeRequest,
  at: Date,
): ChallengeDocument {
  const later = (ms: number) => new Date(at.getTime() + ms);
  return {
    _id: ids.challengeId(),
    purpose,
    // Without an account, this is an id that nobody has. The challenge behaves like any other, but no code is right.
    user_id: userId ?? ids.entityId(),
    ...(link && { link: link.id }),
    kid: codes.currentKid,
    tries_left: codeTries,
    resends_left: link === undefined ? codeResends : 0,
    resend_at: later(codeResendSeconds * 1_000),
    created_at: at,
    expires_at: later(codeLifeSeconds * 1_000),
    ended_at: null,
    purge_at: later(keptMs),
  };
}

/** Returns the challenge in the form that the requesting app gets. */
export function describeChallenge(challenge: ChallengeDocument, at: Date): ChallengeResponse['data'] {
  const { _id, expires_at, resends_left, resend_at } = challenge;
  return {
    challenge_id: _id,
    expires_at: expires_at.toISOString(),
    resend_at: resends_left > 0 ? resend_at.toISOString() : null,
    timestamp: at.toISOString(),
  };
}

/** A challenge whose code is to be sent to its user, or to nobody. */
export interface CodeToSend {
  readonly challenge: ChallengeDocument;
  readonly locale: Locale;
  /** `nobody`: the same work is done, but no mail is sent. */
  readonly to: 'user' | 'nobody';
  /** Provider whose identity the code links. */
  readonly provider?: string | undefined;
  /** Event that is published instead of the event for the code. */
  readonly instead?: AuthEvent | undefined;
  readonly at: Date;
}

/** Returns the event by which a code is sent. The worker derives the code when it sends the mail. */
export function codeEvent(
  { ids }: { readonly ids: Pick<Ids, 'entityId'> },
  { challenge, locale, to, provider, instead, at }: CodeToSend,
  origin: RequestOrigin,
): QuietEvent {
  const event = codeRequestedEvent({ challenge, provider, locale }, eventOrigin(origin, at, ids));
  return instead === undefined ? { event, isFor: to } : { event: instead, isFor: 'user' };
}
