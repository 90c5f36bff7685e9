import { AppError } from '@auth-account/errors';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import type { UserDocument } from '@auth-account/stores/documents';
import type { SecondFactorStore } from '@auth-account/stores/second-factors';
import type { ClientSession } from 'mongodb';
import type { Outcome } from '../../announcements/commit.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import { findRecoveryCode } from '../../security/recovery-codes.ts';
import { totpStepOf } from '../../security/totp.ts';
import type { OpenSeed } from './open-seed.ts';

export interface CheckFactorDeps {
  readonly secondFactors: Pick<SecondFactorStore, 'useStep' | 'useRecoveryCode'>;
  readonly openSeed: OpenSeed;
  readonly limits: Pick<Limits, 'secondFactor'>;
  readonly audit: Audit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/** A second factor as a request has it. */
export interface GivenFactor {
  readonly method: 'totp' | 'recovery_code';
  readonly code: string;
}

/** Announcements that the use of a factor makes. */
export type FactorUse = Pick<Outcome, 'events' | 'audit'>;

/** A right factor. It counts once. */
export interface RightFactor {
  /** Methods of RFC 8176. */
  readonly amr: readonly string[];
  /**
   * Uses the factor up by a conditional write. Raises `ERR-SECOND-FACTOR-INVALID` if another request was faster. Without
   * a transaction the write takes effect at once.
   */
  use(at: Date, transactionSession?: ClientSession): Promise<FactorUse>;
  /** Called when the factor was used up, or when something else has failed. The try counts no longer. */
  giveBack(): Promise<void>;
}

/** Compares a second factor. `deviceId`: in lower case; undefined if the client sent no id. */
export type CheckFactor = (
  user: UserDocument,
  given: GivenFactor,
  deviceId: string | undefined,
  origin: RequestOrigin,
) => Promise<RightFactor>;

/** Below this number of recovery codes, each use is mailed. */
const fewCodes = 3;

/**
 * Creates the check of a second factor, which the limits must admit first. Raises `ERR-SECOND-FACTOR-INVALID` for a
 * wrong factor and for one that was used before, and `ERR-RATE-LIMITED`.
 */
export function createCheckFactor(deps: CheckFactorDeps): CheckFactor {
  const { secondFactors, openSeed, limits, audit, ids, now } = deps;

  return async (user, { method, code }, deviceId, origin) => {
    const { _id: user_id, email, totp } = user;
    const { triesLeft, giveBack } = await limits.secondFactor({ email, deviceId }, origin);
    const refused = () => {
      audit({ event: 'second_factor.failed', user_id, reason: method }, origin);
      return new AppError('ERR-SECOND-FACTOR-INVALID', { details: { tries_left: triesLeft } });
    };
    if (totp === undefined) throw refused();
    const seed = await openSeed(user, totp);
    const amr = ['otp', 'mfa'];
    if (method === 'totp') {
      const step = totpStepOf(seed, code, now());
      if (step === undefined || step <= totp.last_step) throw refused();
      return {
        amr,
        giveBack,
        async use(_at, session) {
          if (!(await secondFactors.useStep(user_id, totp.factor_id, step, session))) throw refused();
          return { events: [], audit: [] };
        },
      };
    }
    const stored = findRecoveryCode(seed, code, user.recovery_codes ?? []);
    if (stored === undefined) throw refused();
    return {
      amr,
      giveBack,
      async use(at, session) {
        const left = await secondFactors.useRecoveryCode(user_id, stored, session);
        if (left === undefined) throw refused();
        const told = { user_id, purpose: 'recovery_codes', locale: mailLocale(user, origin) } as const;
        const source = eventOrigin(origin, at, ids);
        const notice = () =>
          createAccountEvent('service.auth.events.notice', { ...told, recovery_codes_left: left }, source);
        return {
          events: left < fewCodes ? [notice()] : [],
          audit: [{ event: 'recovery_code.used', user_id, recovery_codes_left: left }],
        };
      },
    };
  };
}
