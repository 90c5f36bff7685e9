import type { ConfirmCodeRequest } from '@auth-account/contracts/http/challenges';
import type { EmailVerifiedResponse } from '@auth-account/contracts/http/email-verification';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import type { PresentUser, UserStore } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import { type Commit, none } from '../../announcements/commit.ts';
import { ChangedMeanwhile } from '../../announcements/retry-if-changed.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { type CheckCode, changeByCode } from '../codes/check-code.ts';
import { isCodeUsed, type RightCode, useCode } from '../proofs/use-proof.ts';

export interface VerifyEmailDeps {
  readonly users: Pick<UserStore, 'changeIfUnchanged'>;
  readonly challenges: Pick<ChallengeStore, 'use' | 'wasUsed'>;
  readonly checkCode: CheckCode;
  readonly limits: Pick<Limits, 'tryCode' | 'verified'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/**
 * Verifies an account's email address with a code from its mailbox. If the address is verified already, it keeps the
 * time of its first verification, and no event is sent again. Raises the errors of {@link CheckCode} and
 * `ERR-RATE-LIMITED`.
 */
export function createVerifyEmail(deps: VerifyEmailDeps) {
  const { checkCode, limits, now } = deps;
  const verify = createVerify(deps);

  return async (input: ConfirmCodeRequest, origin: RequestOrigin): Promise<EmailVerifiedResponse['data']> => {
    await limits.tryCode(origin);
    const check = () => checkCode('email_verification', input, origin);
    const { email } = await changeByCode(check, (code) => verify(code, origin));
    await limits.verified(email, origin);
    return { message: 'EMAIL_VERIFIED', timestamp: now().toISOString() };
  };
}

/**
 * Verifies it. Raises {@link ChangedMeanwhile} if a sign-in method was changed, or the address proved, since the code
 * was checked.
 */
function createVerify({ users, challenges, commit, ids, now }: VerifyEmailDeps) {
  return async (code: RightCode, origin: RequestOrigin): Promise<PresentUser> => {
    const { _id: user_id, email_verified_at } = code.user;
    const at = now();
    const event = createAccountEvent(
      'service.auth.events.email_verified',
      { user_id, verified_at: at.toISOString() },
      eventOrigin(origin, at, ids),
    );
    const isFirstProof = email_verified_at === undefined;
    await commit(
      {
        at,
        lockKey: user_id,
        isCommitted: () => isCodeUsed(challenges, code),
        ifClientLeft: 'commit',
        async work(session) {
          await useCode(challenges, code, at, session);
          const isFresh =
            !isFirstProof || (await users.changeIfUnchanged(code.user, { email_verified_at: at }, session));
          if (!isFresh) throw new ChangedMeanwhile();
          const audit = { event: 'account.email_verified', user_id } as const;
          return { events: isFirstProof ? [event] : none, audit: [audit], sessions: none };
        },
      },
      origin,
    );
    return code.user;
  };
}
