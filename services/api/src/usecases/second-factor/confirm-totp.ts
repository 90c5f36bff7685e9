import type { ConfirmTotpRequest, TotpConfirmedResponse } from '@auth-account/contracts/http/second-factor';
import { AppError } from '@auth-account/errors';
import type { PresentUser, UserStore } from '@auth-account/stores';
import { credentialsVersion } from '@auth-account/stores/credentials';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { Binary } from 'mongodb';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { createRecoveryCodeHash, newRecoveryCodes, recoveryKeyOf } from '../../security/recovery-codes.ts';
import { totpStepOf } from '../../security/totp.ts';
import type { OpenSeed } from '../proofs/check-factor.ts';
import type { ChangeSecondFactor } from './change-second-factor.ts';

export interface ConfirmTotpDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly openSeed: OpenSeed;
  readonly changeSecondFactor: ChangeSecondFactor;
  readonly limits: Pick<Limits, 'secondFactor' | 'changeFactor' | 'completed'>;
  readonly audit: Audit;
  readonly now: () => Date;
  /** The host's clock, with which users' authenticator apps must agree. */
  readonly hostNow: () => Date;
}

/**
 * Switches the second factor on, if the code is of the authenticator app that is being added. The app then replaces an
 * earlier one. The code's step is used up, so the code cannot log in. All other sessions end.
 *
 * Raises `ERR-CODE-EXPIRED` if there is no such enrolment or it has lapsed, `ERR-SECOND-FACTOR-INVALID`,
 * `ERR-RATE-LIMITED`, and `IAD_JWT_ACCESS_INVALID` if the account is gone or the caller's session has ended.
 */
export function createConfirmTotp(deps: ConfirmTotpDeps) {
  const { users, openSeed, changeSecondFactor, limits, audit, now, hostNow } = deps;

  return async (
    { factor_id, code }: ConfirmTotpRequest,
    session: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<TotpConfirmedResponse['data']> => {
    const { user_id, sid: sessionId } = session;
    const user = await users.find(user_id);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const at = now();
    const pending = pendingOf(user, factor_id.toLowerCase(), at);
    // Before the limits: a request that finds no key here uses nothing up.
    const seed = await openSeed(user, pending);
    // The caller has been shown the seed, so there is nothing to guess.
    const attempt = { account: user, session, isGuess: false };
    const { triesLeft, giveBack } = await limits.secondFactor(attempt, origin);
    const step = totpStepOf(seed, code, hostNow());
    if (step === undefined) {
      audit({ event: 'second_factor.failed', user_id, reason: 'totp' }, origin);
      throw new AppError('ERR-SECOND-FACTOR-INVALID', { details: { tries_left: triesLeft } });
    }
    await giveBack();
    await limits.changeFactor(user, origin);
    const { until: _until, version: _version, ...sealed } = pending;
    const [recovery_codes, recoveryKey] = [newRecoveryCodes(), recoveryKeyOf(seed)];
    const sessions_ended = await changeSecondFactor(
      {
        user,
        sessionId,
        at,
        change: user.totp === undefined ? 'switched_on' : 'replaced',
        fields: {
          totp: { ...sealed, confirmed_at: at, last_step: step, recovery_key: new Binary(recoveryKey) },
          recovery_codes: recovery_codes.map(createRecoveryCodeHash(recoveryKey)),
        },
        removed: ['pending_totp', 'trusted_devices'],
        enrolled: pending.factor_id,
        audit: { event: 'account.second_factor_on', user_id, session_id: sessionId },
        changed: () => new AppError('ERR-CODE-EXPIRED'),
        // A user whose app has given up would never see the recovery codes.
        ifClientLeft: 'abort',
      },
      origin,
    );
    await limits.completed(user.email, origin);
    return { message: 'TOTP_CONFIRMED', recovery_codes, sessions_ended, timestamp: now().toISOString() };
  };
}

function pendingOf(user: PresentUser, factorId: string, at: Date) {
  const { pending_totp } = user;
  if (pending_totp?.factor_id !== factorId || pending_totp.until <= at) throw new AppError('ERR-CODE-EXPIRED');
  // A change of the password or another sign-in method ends the enrolment, which a thief may have begun.
  if (pending_totp.version !== credentialsVersion(user)) throw new AppError('ERR-CODE-EXPIRED');
  return pending_totp;
}
