import { randomUUID } from 'node:crypto';
import type { CodePurpose } from '@auth-account/contracts/events';
import type { ConfirmCodeRequest } from '@auth-account/contracts/http/challenges';
import { AppError } from '@auth-account/errors';
import type { PresentUser, UserStore } from '@auth-account/stores';
import { type ChallengeKey, type ChallengeStore, challengeState, codeEmail } from '@auth-account/stores/challenges';
import { hasSameCredentials } from '@auth-account/stores/credentials';
import type { ChallengeDocument } from '@auth-account/stores/documents';
import type { EmailCodes } from '@auth-account/tokens';
import { retryIfChanged } from '../../announcements/retry-if-changed.ts';
import type { Audit } from '../../audit/audit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { createAwaitKey } from '../../security/await-key.ts';
import { codeInvalid, type RightCode, type useCode } from '../proofs/use-proof.ts';

export interface CheckCodeDeps {
  readonly challenges: Pick<ChallengeStore, 'find' | 'takeTry'>;
  readonly users: Pick<UserStore, 'find'>;
  readonly codes: Pick<EmailCodes, 'hasKey' | 'rereadKeys' | 'isCodeOf'>;
  readonly audit: Audit;
  readonly now: () => Date;
}

/** `of`: the user or the link of an identity to which the code must belong. Any other challenge counts as unknown. */
export type CheckCode = (
  purpose: CodePurpose,
  body: ConfirmCodeRequest,
  origin: RequestOrigin,
  of?: Pick<ChallengeKey, 'user_id' | 'link'>,
) => Promise<RightCode>;

/** Key of an email address that no account has, so that the same work is done without an account. */
const nobodysEmailKey = 'nobody';

/**
 * Checks a code, in constant time. A wrong code is counted before the answer says that it was wrong. A right code takes
 * its try in the transaction of the change ({@link useCode}), which fails if five wrong codes were counted before. So
 * no more simultaneous guesses get a verdict than the challenge has tries left. A right code whose change fails, or is
 * shed, stays valid. The challenge of an email address without an account is refused after the same work.
 *
 * Raises `ERR-CODE-INVALID` for a wrong code and for a challenge that is dead or unknown, `ERR-CODE-EXPIRED` for a
 * challenge that is too old, and `ERR-DEPENDENCY-UNAVAILABLE` if the challenge's key has not arrived here yet.
 */
export function createCheckCode(deps: CheckCodeDeps): CheckCode {
  const { challenges, users, codes, now } = deps;
  const refuseClosed = createRefuseClosed(deps);
  const refuseWrong = createRefuseWrong(deps);
  const awaitKey = createAwaitKey(codes, now);

  return async (purpose, { challenge_id, code }, origin, of) => {
    const key: ChallengeKey = { _id: challenge_id.toLowerCase(), purpose, ...of };
    const challenge = await challenges.find(key);
    if (challenge === undefined || challengeState(challenge, now()) !== 'open') {
      return refuseClosed(key, challenge, origin);
    }
    await awaitKey(challenge);
    const user = await users.find(challenge.user_id);
    const isRight = compare(deps, challenge, user, code);
    if (user === undefined || !isRight) return refuseWrong(key, user, origin);
    return { kind: 'email_code', user, challengeId: challenge._id, usedBy: randomUUID() };
  };
}

function compare({ codes }: CheckCodeDeps, challenge: ChallengeDocument, user: PresentUser | undefined, code: string) {
  const { _id: challengeId, kid, purpose, user_id: userId } = challenge;
  const emailKey = user && codeEmail(user, purpose)?.emailKey;
  const isEqual = codes.isCodeOf({ kid, challengeId, purpose, userId, emailKey: emailKey ?? nobodysEmailKey }, code);
  return isEqual && emailKey !== undefined;
}

/** Refuses a challenge that is not open. */
function createRefuseClosed({ audit, now }: CheckCodeDeps) {
  return (key: ChallengeKey, challenge: ChallengeDocument | undefined, origin: RequestOrigin): never => {
    const state = challenge && challengeState(challenge, now());
    const reason = state === 'dead' || state === 'expired' ? state : 'unknown';
    audit({ event: 'code.failed', user_id: challenge?.user_id, purpose: key.purpose, reason }, origin);
    throw reason === 'expired' ? new AppError('ERR-CODE-EXPIRED') : codeInvalid();
  };
}

/** Counts a wrong code and then refuses it. */
function createRefuseWrong(deps: CheckCodeDeps) {
  const { challenges, audit, now } = deps;
  const refuseClosed = createRefuseClosed(deps);
  return async (key: ChallengeKey, user: PresentUser | undefined, origin: RequestOrigin): Promise<never> => {
    const counted = await challenges.takeTry(key, now());
    // Other tries were faster and used up the challenge, so this try gets no verdict.
    if (counted === undefined) return refuseClosed(key, await challenges.find(key), origin);
    audit({ event: 'code.failed', user_id: user?._id, purpose: key.purpose, reason: 'wrong' }, origin);
    throw codeInvalid(counted.tries_left);
  };
}

/**
 * Makes the change that a code permits. If the email address was proved since the account was read, checks the code
 * again and decides anew by the account as it is now. Raises the errors of both, and `ERR-CODE-INVALID` if a sign-in
 * method was changed.
 */
export function changeByCode<T>(
  check: () => Promise<RightCode>,
  change: (code: RightCode) => Promise<T>,
  first?: RightCode,
): Promise<T> {
  let before = first?.user;
  const checkAgain = async () => {
    const code = await check();
    const { user } = code;
    const isProved = before?.email_verified_at === undefined && user.email_verified_at !== undefined;
    if (before !== undefined && !(isProved && hasSameCredentials(before, user))) throw codeInvalid();
    before = user;
    return code;
  };
  return retryIfChanged(checkAgain, change, first);
}
