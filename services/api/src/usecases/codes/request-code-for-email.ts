import type { CodePurpose } from '@auth-account/contracts/events';
import type { ChallengeResponse } from '@auth-account/contracts/http/challenges';
import type { PasswordResetRequest } from '@auth-account/contracts/http/password-reset';
import type { UserStore } from '@auth-account/stores';
import type { Addressee } from '@auth-account/stores/users';
import type { Limits } from '../../limits/limits.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import type { RequestCode } from './request-code.ts';

export interface RequestCodeForEmailDeps {
  readonly users: Pick<UserStore, 'findAddressee'>;
  readonly limits: Pick<Limits, 'askForCode' | 'requestCode'>;
  readonly requestCode: RequestCode;
}

/**
 * Sends a code for that purpose to the email address. An address without an account, or with an account that is not
 * `isMeant`, gets the same answer, after the same work and under the same limits. Raises `ERR-RATE-LIMITED`.
 */
export function createRequestCodeForEmail(
  { users, limits, requestCode }: RequestCodeForEmailDeps,
  purpose: CodePurpose,
  isMeant: (user: Addressee) => boolean = () => true,
) {
  return async ({ email }: PasswordResetRequest, origin: RequestOrigin): Promise<ChallengeResponse['data']> => {
    await limits.askForCode(origin);
    const user = await users.findAddressee({ email });
    const isVerified = user?.email_verified_at !== undefined;
    await limits.requestCode({ email, isVerified, hasAccess: false, recoveredAt: user?.recovered_at }, origin);
    const userId = user !== undefined && isMeant(user) ? user._id : undefined;
    return requestCode({ purpose, userId, locale: mailLocale(user, origin) }, origin);
  };
}
