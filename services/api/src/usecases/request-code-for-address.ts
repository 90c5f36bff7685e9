import type { CodePurpose } from '@auth-account/contracts/events';
import type { ChallengeResponse } from '@auth-account/contracts/http/challenges';
import type { PasswordResetRequest } from '@auth-account/contracts/http/password-reset';
import type { UserStore } from '@auth-account/stores';
import { mailLocale } from '../codes/mail-locale.ts';
import type { RequestCode } from '../codes/request-code.ts';
import type { Limits } from '../limits/limits.ts';
import type { Ids } from '../request/ids.ts';
import type { RequestOrigin } from '../request/request-origin.ts';

export interface RequestCodeForAddressDeps {
  readonly users: Pick<UserStore, 'findByEmail'>;
  readonly limits: Pick<Limits, 'requestCode'>;
  readonly requestCode: RequestCode;
  readonly ids: Pick<Ids, 'groupId'>;
}

/**
 * Sends a code of that purpose to the address. An address without an account gets the same answer, after the same work,
 * under the same limits. Raises `ERR-RATE-LIMITED`.
 */
export function createRequestCodeForAddress(
  { users, limits, requestCode, ids }: RequestCodeForAddressDeps,
  purpose: CodePurpose,
) {
  return async (
    { email, device_id }: PasswordResetRequest,
    origin: RequestOrigin,
  ): Promise<ChallengeResponse['data']> => {
    // If it has no device id, no account knows the device.
    const deviceId = device_id?.toLowerCase() ?? ids.groupId();
    await limits.requestCode({ email, deviceId, purpose }, origin);
    const user = await users.findByEmail(email);
    return requestCode({ purpose, userId: user?._id, locale: mailLocale(user, origin) }, origin);
  };
}
