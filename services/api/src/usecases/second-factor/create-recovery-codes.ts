import type { ReauthenticatedRequest, RecoveryCodesResponse } from '@auth-account/contracts/http/second-factor';
import { AppError } from '@auth-account/errors';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { createRecoveryCodeHash, newRecoveryCodes } from '../../security/recovery-codes.ts';
import { findRecoveryKey, type OpenSeed } from '../proofs/check-factor.ts';
import { createPermitLater, type ReauthenticateDeps } from '../step-up/reauthenticate.ts';
import type { ChangeSecondFactor } from './change-second-factor.ts';

export interface CreateRecoveryCodesDeps extends ReauthenticateDeps {
  readonly openSeed: OpenSeed;
  readonly changeSecondFactor: ChangeSecondFactor;
  readonly limits: ReauthenticateDeps['limits'] & Pick<Limits, 'changeFactor' | 'write'>;
  readonly now: () => Date;
}

/**
 * Replaces the recovery codes of the caller's account. While the second factor is off there are none. Raises the errors
 * of {@link createPermitLater}, even if a sign-in method was changed only after the check, and `IAD_JWT_ACCESS_INVALID`
 * if the account is gone.
 */
export function createIssueRecoveryCodes(deps: CreateRecoveryCodesDeps) {
  const { stepUpTokens, openSeed, changeSecondFactor, limits, now } = deps;
  const permitLater = createPermitLater(deps);

  return async (
    input: ReauthenticatedRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<RecoveryCodesResponse['data']> => {
    const { user_id, sid: sessionId } = caller;
    // A request that finds no key here uses no token up.
    const { user, challengeUse } = await permitLater(input, caller, origin, 'recovery_codes');
    const at = now();
    if (user.totp === undefined) {
      await limits.write(sessionId, origin);
      return { recovery_codes: [], timestamp: at.toISOString() };
    }
    const recoveryKey = await findRecoveryKey(openSeed, user, user.totp);
    const isFirst = challengeUse === undefined || (await stepUpTokens.use(challengeUse));
    if (!isFirst) throw new AppError('ERR-REAUTHENTICATION-FAILED');
    await limits.changeFactor(user, origin);
    const recovery_codes = newRecoveryCodes();
    await changeSecondFactor(
      {
        user,
        sessionId,
        at,
        change: 'recovery_codes',
        fields: { recovery_codes: recovery_codes.map(createRecoveryCodeHash(recoveryKey)) },
        audit: { event: 'account.recovery_codes_created', user_id, session_id: sessionId },
        changed: () => new AppError('ERR-REAUTHENTICATION-FAILED'),
        // A user whose app has given up would never see the codes.
        ifClientLeft: 'abort',
      },
      origin,
    );
    return { recovery_codes, timestamp: now().toISOString() };
  };
}
