import type { ReauthenticatedRequest, TotpDeletedResponse } from '@auth-account/contracts/http/second-factor';
import { AppError } from '@auth-account/errors';
import { secondFactorFields } from '@auth-account/stores/second-factors';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { Reauthenticate } from '../step-up/reauthenticate.ts';
import type { ChangeSecondFactor } from './change-second-factor.ts';

export interface DeleteTotpDeps {
  readonly reauthenticate: Reauthenticate;
  readonly changeSecondFactor: ChangeSecondFactor;
  readonly limits: Pick<Limits, 'changeFactor' | 'write'>;
  readonly now: () => Date;
}

/**
 * Switches the second factor of the caller's account off, and ends all other sessions. If it is off already, nothing
 * changes. Raises the errors of {@link Reauthenticate}, even if a sign-in method was changed only after the check, and
 * `IAD_JWT_ACCESS_INVALID` if the caller's session has ended in between.
 */
export function createDeleteTotp({ reauthenticate, changeSecondFactor, limits, now }: DeleteTotpDeps) {
  return async (
    input: ReauthenticatedRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<TotpDeletedResponse['data']> => {
    const { user_id, sid: sessionId } = caller;
    const user = await reauthenticate(input, caller, origin, 'totp');
    await (user.totp === undefined ? limits.write(sessionId, origin) : limits.changeFactor(user, origin));
    const at = now();
    const change = {
      user,
      sessionId,
      at,
      change: 'switched_off',
      removed: secondFactorFields,
      audit: { event: 'account.second_factor_off', user_id, session_id: sessionId },
      changed: () => new AppError('ERR-REAUTHENTICATION-FAILED'),
      ifClientLeft: 'commit',
    } as const;
    const sessions_ended = user.totp === undefined ? 0 : await changeSecondFactor(change, origin);
    return { message: 'TOTP_DELETED', sessions_ended, timestamp: now().toISOString() };
  };
}
