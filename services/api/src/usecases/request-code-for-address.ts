import type { CodePurpose } from '@auth-account/contracts/events';
import type { ChallengeResponse } from '@auth-account/contracts/http/challenges';
import type { PasswordResetRequest } from '@auth-account/contracts/http/password-reset';
import type { UserStore } from '@auth-account/stores';
import { isDue } from '@auth-account/stores/users';
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
  readonly now: () => Date;
}

/**
 * Sends a code of that purpose to the address. An address without an account, or with one that is due for its
 * erasure, gets the same answer, after the same work, under the same limits. Raises `ERR-RATE-LIMITED`.
 */
export function createRequestCodeForAddress(
  { users, limits, requestCode, ids, now }: RequestCodeForAddressDeps,
  purpose: CodePurpose,
) {
  return async (
    { email, device_id }: PasswordResetRequest,
    origin: RequestOrigin,
  ): Promise<ChallengeResponse['data']> => {
    // If it has no device id, no account knows the device.
    const deviceId = device_id?.toLowerCase() ?? ids.groupId();
    await limits.requestCode({ email, deviceId, purpose }, origin);
    const found = await users.findByEmail(email);
    const user = found && !isDue(found, now()) ? found : undefined;
    return requestCode({ purpose, userId: user?._id, locale: mailLocale(user, origin) }, origin);
  };
}
