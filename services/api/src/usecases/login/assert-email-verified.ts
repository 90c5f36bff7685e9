import { AppError } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import { describeChallenge, type RequestCode } from '../codes/request-code.ts';
import { assertMayLogIn } from './assert-may-log-in.ts';

export interface AssertEmailVerifiedDeps {
  readonly challenges: Pick<ChallengeStore, 'findOpen'>;
  readonly requestCode: RequestCode;
  readonly limits: Pick<Limits, 'askForCode' | 'requestCode'>;
  readonly audit: Audit;
  /** `REQUIRE_VERIFIED_EMAIL`. */
  readonly requiresVerifiedEmail: boolean;
  readonly now: () => Date;
}

/** Raises an error unless the account may log in with its present address. */
export type AssertEmailVerified = (user: PresentUser, origin: RequestOrigin) => Promise<void>;

/**
 * Creates the check that follows when the password of a login was right. If verified addresses are required and the
 * account's address is not verified, it raises `ERR-EMAIL-NOT-VERIFIED` with a challenge, whose code is sent to the
 * address. An open challenge is used again, so that repeated logins send no further mails. It raises the errors of
 * {@link assertMayLogIn} first, and `ERR-RATE-LIMITED` if no further code may be sent.
 */
export function createAssertEmailVerified(deps: AssertEmailVerifiedDeps): AssertEmailVerified {
  const { challenges, requestCode, limits, audit, requiresVerifiedEmail, now } = deps;
  const purpose = 'email_verification';

  return async (user, origin) => {
    if (!requiresVerifiedEmail || user.email_verified_at !== undefined) return;
    assertMayLogIn(user);
    const { _id: userId, email } = user;
    const at = now();
    const open = await challenges.findOpen(userId, purpose, at);
    if (open === undefined) {
      await limits.askForCode(origin);
      await limits.requestCode({ email, isVerified: false, hasAccess: true, recoveredAt: user.recovered_at }, origin);
    }
    const { challenge_id, expires_at, resend_at } =
      open === undefined
        ? await requestCode({ purpose, userId, locale: mailLocale(user, origin) }, origin)
        : describeChallenge(open, at);
    audit({ event: 'login.refused', user_id: userId, reason: 'email_not_verified' }, origin);
    const details = { challenge_id, expires_at, ...(resend_at !== null && { resend_at }) };
    throw new AppError('ERR-EMAIL-NOT-VERIFIED', { details });
  };
}
