import type { ChallengeResponse } from '@auth-account/contracts/http/challenges';
import { AppError } from '@auth-account/errors';
import type { UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Limits } from '../../limits/limits.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import type { RequestCode } from '../codes/request-code.ts';

export interface RequestEmailVerificationDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly limits: Pick<Limits, 'askForCode' | 'requestCode'>;
  readonly requestCode: RequestCode;
}

/**
 * Sends a code to the caller's email address. Raises `ERR-RATE-LIMITED`, and `IAD_JWT_ACCESS_INVALID` if the account is
 * gone.
 */
export function createRequestEmailVerification({ users, limits, requestCode }: RequestEmailVerificationDeps) {
  const purpose = 'email_verification';
  return async ({ user_id }: VerifiedAccessToken, origin: RequestOrigin): Promise<ChallengeResponse['data']> => {
    await limits.askForCode(origin);
    const user = await users.find(user_id);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const isVerified = user.email_verified_at !== undefined;
    const { email, recovered_at: recoveredAt } = user;
    await limits.requestCode({ email, isVerified, hasAccess: true, recoveredAt }, origin);
    return requestCode({ purpose, userId: user_id, locale: mailLocale(user, origin) }, origin);
  };
}
