import type { AuthEvent } from '@auth-account/contracts/events';
import { type ChallengeResponse, codeLifeSeconds } from '@auth-account/contracts/http/challenges';
import type { EmailChangeRequest } from '@auth-account/contracts/http/email-change';
import { AppError } from '@auth-account/errors';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import { emailKey } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import type { EmailChangeStore, EmailHolder } from '@auth-account/stores/email-changes';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { ClientSession } from 'mongodb';
import { countedAs } from '../../limits/counted-account.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import type { RequestCode } from '../codes/request-code.ts';
import type { Reauthenticate } from '../step-up/reauthenticate.ts';

export interface RequestEmailChangeDeps {
  readonly emailChanges: Pick<EmailChangeStore, 'findHolder' | 'request'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly reauthenticate: Reauthenticate;
  readonly limits: Pick<Limits, 'askForCode' | 'requestCode'>;
  readonly requestCode: RequestCode;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/**
 * Sends a code to the email address that the caller wants to have. If another account has the address, the answer and
 * the work are the same, but that account is notified and no code is sent. Earlier codes for a change end.
 *
 * Raises the errors of {@link Reauthenticate}, even if the password was changed only after the check, and
 * `ERR-RATE-LIMITED`.
 */
export function createRequestEmailChange(deps: RequestEmailChangeDeps) {
  const { emailChanges, challenges, reauthenticate, limits, requestCode, now } = deps;
  const purpose = 'email_change';

  return async (
    input: EmailChangeRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<ChallengeResponse['data']> => {
    const { new_email } = input;
    const user = await reauthenticate(input, caller, origin, 'email_change');
    const { email } = user;
    await limits.askForCode(origin);
    const asker = { email, isVerified: user.email_verified_at !== undefined };
    await limits.requestCode(
      { ...asker, hasAccess: true, change: { userId: countedAs(user, 'account'), to: new_email } },
      origin,
    );
    const at = now();
    const holder = await emailChanges.findHolder(new_email, at);
    const isTaken = holder !== undefined && holder._id !== user._id;
    const change = async (session: ClientSession) => {
      const until = new Date(at.getTime() + codeLifeSeconds * 1_000);
      if (!(await emailChanges.request(user, new_email, until, session))) {
        throw new AppError('ERR-REAUTHENTICATION-FAILED');
      }
      await challenges.endAll(user._id, at, session, purpose);
    };
    const instead =
      isTaken && holder.email_key === emailKey(new_email) ? noticeOf(deps, holder, at, origin) : undefined;
    const code = { purpose, userId: user._id, locale: mailLocale(user, origin), isWithheld: isTaken } as const;
    return requestCode({ ...code, instead, change }, origin);
  };
}

/**
 * Notifies the holder of the email address. An account that has lost the address and can only get it back gets no
 * notification.
 */
function noticeOf({ ids }: RequestEmailChangeDeps, holder: EmailHolder, at: Date, origin: RequestOrigin): AuthEvent {
  return createAccountEvent(
    'service.auth.events.notice',
    { user_id: holder._id, purpose: 'address_in_use', locale: mailLocale(holder, origin) },
    eventOrigin(origin, at, ids),
  );
}
