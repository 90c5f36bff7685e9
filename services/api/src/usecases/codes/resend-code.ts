import type { CodePurpose } from '@auth-account/contracts/events';
import {
  type ChallengeResponse,
  codeResendSeconds,
  type ResendCodeRequest,
} from '@auth-account/contracts/http/challenges';
import { AppError } from '@auth-account/errors';
import type { UserStore } from '@auth-account/stores';
import {
  type ChallengeKey,
  type ChallengeStore,
  challengeState,
  newResend,
  resendTime,
} from '@auth-account/stores/challenges';
import type { ChallengeDocument } from '@auth-account/stores/documents';
import { type EmailChangeStore, isRecipient } from '@auth-account/stores/email-changes';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import { codeInvalid } from '../proofs/use-proof.ts';
import { codeEvent, describeChallenge } from './request-code.ts';

export interface ResendCodeDeps {
  readonly challenges: Pick<ChallengeStore, 'find' | 'takeResend' | 'wasResent'>;
  readonly users: Pick<UserStore, 'findAddressee'>;
  readonly emailChanges: Pick<EmailChangeStore, 'findHolder'>;
  readonly limits: Pick<Limits, 'tryCode'>;
  readonly commit: Commit;
  readonly audit: Audit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/** `userId`: the caller, if the route has one. For a caller, challenges of other users count as unknown. */
export type ResendCode = (
  purpose: CodePurpose,
  body: ResendCodeRequest,
  origin: RequestOrigin,
  userId?: string,
) => Promise<ChallengeResponse['data']>;

/**
 * Sends the same code once more, 60 s after the last mail at the earliest and three times at most. For a challenge
 * without an account, the same work is done.
 *
 * Raises `ERR-CODE-INVALID` for a challenge that is dead or unknown, `ERR-CODE-EXPIRED` for a challenge that is too
 * old, and `ERR-RATE-LIMITED` if no resend is due.
 */
export function createResendCode(deps: ResendCodeDeps): ResendCode {
  const { challenges, emailChanges, limits, commit, audit, now } = deps;

  return async (purpose, { challenge_id }, origin, userId) => {
    await limits.tryCode(origin);
    const at = now();
    const key: ChallengeKey = { _id: challenge_id.toLowerCase(), purpose, ...(userId && { user_id: userId }) };
    const seen = await challenges.find(key);
    assertOpen(seen, at);
    const waitMs = resendTime(seen).getTime() - at.getTime();
    if (waitMs > 0) {
      audit({ event: 'limit.exceeded', reason: 'code_resend', user_id: seen.user_id, account: undefined }, origin);
      throw new AppError('ERR-RATE-LIMITED', { retryAfterSeconds: waitMs / 1_000 });
    }
    const user = await deps.users.findAddressee({ userId: seen.user_id });
    const to = user !== undefined && (await isRecipient(emailChanges, user, purpose, at)) ? 'user' : 'nobody';
    const event = codeEvent(deps, { challenge: seen, locale: mailLocale(user, origin), to, at }, origin);
    const resend = newResend(at, codeResendSeconds);
    const { challenge } = await commit(
      {
        at,
        isCommitted: () => challenges.wasResent(key._id, resend.resent_by),
        ifClientLeft: 'commit',
        async work(session) {
          const taken = await challenges.takeResend(key, resend, at, session);
          // Another request took this resend first, or the challenge has ended since it was read.
          if (taken === undefined) throw new AppError('ERR-RATE-LIMITED', { retryAfterSeconds: codeResendSeconds });
          const audit = { event: 'code.resent', user_id: user?._id, purpose } as const;
          return { challenge: taken, events: [event], audit: [audit], sessions: none };
        },
      },
      origin,
    );
    return describeChallenge(challenge, at);
  };
}

function assertOpen(challenge: ChallengeDocument | undefined, at: Date): asserts challenge is ChallengeDocument {
  const state = challenge && challengeState(challenge, at);
  if (state === 'expired') throw new AppError('ERR-CODE-EXPIRED');
  if (state !== 'open') throw codeInvalid();
}
