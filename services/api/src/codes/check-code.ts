import { randomUUID } from 'node:crypto';
import type { CodePurpose } from '@auth-account/contracts/events';
import type { ConfirmCodeRequest } from '@auth-account/contracts/http/challenges';
import { AppError } from '@auth-account/errors';
import type { UserStore } from '@auth-account/stores';
import { type ChallengeKey, type ChallengeStore, challengeState, codeAddress } from '@auth-account/stores/challenges';
import type { ChallengeDocument, UserDocument } from '@auth-account/stores/documents';
import type { EmailCodes } from '@auth-account/tokens';
import type { ClientSession } from 'mongodb';
import type { Audit } from '../audit/audit.ts';
import type { RequestOrigin } from '../request/request-origin.ts';
import { codeInvalid } from './code-errors.ts';

export interface CheckCodeDeps {
  readonly challenges: Pick<ChallengeStore, 'find' | 'takeTry' | 'use' | 'wasUsed'>;
  readonly users: Pick<UserStore, 'find'>;
  readonly codes: Pick<EmailCodes, 'hasKey' | 'rereadKeys' | 'isCodeOf'>;
  readonly audit: Audit;
  readonly now: () => Date;
}

/** A code that was right. Nothing has changed yet: its challenge is used in the transaction of what it permits. */
export interface RightCode {
  readonly user: UserDocument;
  /** Uses the challenge up. Raises `ERR-CODE-INVALID` if it was used, or has become void, since the code was compared. */
  use(at: Date, session: ClientSession): Promise<void>;
  /** Returns true if this very confirmation took effect. */
  isUsed(): Promise<boolean>;
}

/** `userId`: the caller, if the route has one. The challenge of anybody else is unknown to them. */
export type CheckCode = (
  purpose: CodePurpose,
  body: ConfirmCodeRequest,
  origin: RequestOrigin,
  userId?: string,
) => Promise<RightCode>;

/** Key of an address that no account has: without an account the same work is done. */
const nobodysEmailKey = 'nobody';

/**
 * Creates the check of a code. It counts the try, then compares in constant time; of simultaneous tries only as many
 * are compared as the challenge has left. A challenge of an address without an account is refused after the same work.
 *
 * Raises `ERR-CODE-INVALID` for a wrong code and for a challenge that is dead or unknown, `ERR-CODE-EXPIRED` for one
 * that is too old, and `ERR-DEPENDENCY-UNAVAILABLE` if its key has not arrived here yet.
 */
export function createCheckCode(deps: CheckCodeDeps): CheckCode {
  const { challenges, users, audit, now } = deps;
  const refuseClosed = createRefuseClosed(deps);
  const awaitKey = createAwaitKey(deps);

  return async (purpose, { challenge_id, code }, origin, userId) => {
    const key: ChallengeKey = { _id: challenge_id.toLowerCase(), purpose, ...(userId && { user_id: userId }) };
    const challenge = await challenges.takeTry(key, now());
    if (challenge === undefined) return refuseClosed(key, origin);
    await awaitKey(challenge);
    const user = await users.find(challenge.user_id);
    const isRight = compare(deps, challenge, user, code);
    if (user === undefined || !isRight) {
      audit({ event: 'code.failed', user_id: user?._id, purpose, reason: 'wrong' }, origin);
      throw codeInvalid(challenge.tries_left);
    }
    const usedBy = randomUUID();
    return {
      user,
      async use(at, session) {
        if (!(await challenges.use(challenge._id, usedBy, at, session))) throw codeInvalid();
      },
      isUsed: () => challenges.wasUsed(challenge._id, usedBy),
    };
  };
}

function compare({ codes }: CheckCodeDeps, challenge: ChallengeDocument, user: UserDocument | undefined, code: string) {
  const { _id: challengeId, kid, purpose, user_id: userId } = challenge;
  const emailKey = user && codeAddress(user, purpose)?.emailKey;
  const isEqual = codes.isCodeOf({ kid, challengeId, purpose, userId, emailKey: emailKey ?? nobodysEmailKey }, code);
  return isEqual && emailKey !== undefined;
}

/** Creates the refusal of a challenge that took no try. */
function createRefuseClosed({ challenges, audit, now }: CheckCodeDeps) {
  return async (key: ChallengeKey, origin: RequestOrigin): Promise<never> => {
    const challenge = await challenges.find(key);
    const reason = challenge === undefined ? 'unknown' : closedState(challenge, now());
    audit({ event: 'code.failed', user_id: challenge?.user_id, purpose: key.purpose, reason }, origin);
    throw reason === 'expired' ? new AppError('ERR-CODE-EXPIRED') : codeInvalid();
  };
}

function closedState(challenge: ChallengeDocument, at: Date): 'dead' | 'expired' {
  return challengeState(challenge, at) === 'expired' ? 'expired' : 'dead';
}

/** Without its key no code is right. A key that has not arrived here yet must not make a right one wrong. */
function createAwaitKey({ codes }: CheckCodeDeps) {
  return async ({ kid }: ChallengeDocument): Promise<void> => {
    if (codes.hasKey(kid)) return;
    await codes.rereadKeys();
    if (!codes.hasKey(kid)) throw new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds: 2 });
  };
}
