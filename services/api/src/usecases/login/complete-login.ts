import { AppError } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import { hasSecondFactor } from '@auth-account/stores/second-factors';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import { describeChallenge, type RequestCode } from '../codes/request-code.ts';
import type { DemandSecondFactor } from './demand-second-factor.ts';
import type { OpenSession } from './open-session.ts';
import { assertMayLogIn, isFirstProof, type OpenedSession, type ProvedLogin } from './proved-login.ts';

export interface CompleteLoginDeps {
  readonly challenges: Pick<ChallengeStore, 'findOpen'>;
  readonly requestCode: RequestCode;
  readonly demandSecondFactor: DemandSecondFactor;
  readonly openSession: OpenSession;
  readonly limits: Pick<
    Limits,
    'askForCode' | 'requestCode' | 'addIdentity' | 'registered' | 'completed' | 'verified' | 'known'
  >;
  readonly audit: Audit;
  /** `REQUIRE_VERIFIED_EMAIL`. */
  readonly requiresVerifiedEmail: boolean;
  readonly now: () => Date;
}

/** Completes a login whose proof was right: see {@link createCompleteLogin}. */
export type CompleteLogin = (login: ProvedLogin, origin: RequestOrigin) => Promise<OpenedSession>;

/**
 * Ends every login (docs/specification/sign-in.md, "One end"): the account's email address must be verified if the
 * service requires that, a second factor may have to follow, and then the session opens. The limits learn the device
 * and network of a login that was complete.
 *
 * Raises `ERR-EMAIL-NOT-VERIFIED`, the errors of {@link DemandSecondFactor} and {@link OpenSession}, and
 * `ERR-RATE-LIMITED`.
 */
export function createCompleteLogin(deps: CompleteLoginDeps): CompleteLogin {
  const { demandSecondFactor, openSession, limits } = deps;
  const assertEmailVerified = createAssertEmailVerified(deps);
  const learn = createLearn(deps);

  return async (login, origin) => {
    const { seen, link } = login;
    const provesEmail = isFirstProof(login);
    if (!provesEmail) await assertEmailVerified(seen, origin);
    const trust = demandSecondFactor(login, origin) ?? login.trust;
    // Not before: somebody who knows only the password must not use up the owner's links. Of an account whose email
    // address was never proved, somebody else may have used them up.
    if (link !== undefined && !provesEmail) await limits.addIdentity(seen, origin);
    const opened = await openSession({ ...login, trust }, origin);
    await learn(login, origin);
    return opened;
  };
}

/**
 * Checks that the account may log in with its present email address. If verified ones are required and this one is not,
 * it raises `ERR-EMAIL-NOT-VERIFIED` with a challenge, whose code is sent to it. An open challenge is used again, so
 * that repeated logins send no further mails. It raises the errors of {@link assertMayLogIn} first, and
 * `ERR-RATE-LIMITED` if no further code may be sent.
 */
function createAssertEmailVerified(deps: CompleteLoginDeps) {
  const { challenges, requestCode, limits, audit, requiresVerifiedEmail, now } = deps;
  const purpose = 'email_verification';

  return async (user: PresentUser, origin: RequestOrigin): Promise<void> => {
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

/**
 * Informs the limits of a login. They know of a password already, and of an account that was made for the login. By one
 * factor alone, they learn nothing of an account that demands a second one.
 */
function createLearn({ limits }: CompleteLoginDeps) {
  return async (login: ProvedLogin, origin: RequestOrigin): Promise<void> => {
    const { seen, isNewAccount = false, method, auth, jkt } = login;
    const { email } = seen;
    if (isFirstProof(login)) await limits.registered(email, origin);
    else if (auth.acr === '2') await limits.completed(email, origin, jkt, auth.amr.includes('pwd'));
    else if (hasSecondFactor(seen) || isNewAccount) return;
    else if (method === 'email_code') await limits.verified(email, origin);
    else if (method === 'federated') await limits.known(email, origin);
  };
}
