import type { UsedCredential } from '@auth-account/contracts/http/passkey-credentials';
import { AppError, isAppError } from '@auth-account/errors';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import type { PresentUser } from '@auth-account/stores';
import type { SecondFactorStore } from '@auth-account/stores/second-factors';
import type { ClientSession } from 'mongodb';
import type { Outcome } from '../../announcements/commit.ts';
import type { Audit } from '../../audit/audit.ts';
import type { FactorAttempt, Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import { findRecoveryCode, recoveryKeyOf } from '../../security/recovery-codes.ts';
import { totpStepOf } from '../../security/totp.ts';
import { findRecoveryKey, type OpenSeed } from './open-seed.ts';
import type { PasskeyProof } from './passkey-proof.ts';
import type { WarnOfGuesses } from './warn-of-guesses.ts';

export interface CheckFactorDeps {
  readonly secondFactors: Pick<SecondFactorStore, 'useStep' | 'useRecoveryCode'>;
  readonly openSeed: OpenSeed;
  readonly passkeyProof: PasskeyProof;
  readonly limits: Pick<Limits, 'secondFactor'>;
  readonly warnOfGuesses: WarnOfGuesses;
  readonly audit: Audit;
  readonly ids: Pick<Ids, 'entityId'>;
  /** The host's clock, with which users' authenticator apps must agree. */
  readonly hostNow: () => Date;
}

/** A second factor as a request has it. */
export type GivenFactor =
  | { readonly method: 'totp' | 'recovery_code'; readonly code: string }
  | { readonly method: 'passkey'; readonly challengeId: string; readonly credential: UsedCredential };

/** Announcements that the use of a factor makes. */
export type FactorUse = Pick<Outcome, 'events' | 'audit'>;

/** A right factor. It counts once. */
export interface RightFactor {
  /** Methods of RFC 8176. */
  readonly amr: readonly string[];
  /** Uses the factor up by a conditional write. Raises `ERR-SECOND-FACTOR-INVALID` if another request was faster. */
  use(at: Date, transactionSession: ClientSession): Promise<FactorUse>;
  /** Does the work that uses the factor up. The try counts only if the work fails because another request was faster. */
  during<T>(work: () => Promise<T>): Promise<T>;
}

/** The key that the login has proven, or the session whose user shows the factor. Each has its own tries. */
export type FactorSource = Pick<FactorAttempt, 'jkt'> | Pick<FactorAttempt, 'session'>;

/** Compares a second factor. */
export type CheckFactor = (
  user: PresentUser,
  given: GivenFactor,
  source: FactorSource,
  origin: RequestOrigin,
) => Promise<RightFactor>;

/** Below this number of recovery codes, each use is mailed. */
const fewCodes = 3;

/** A factor that was compared and right. Its use returns undefined if another request was faster. */
interface Compared {
  readonly amr: readonly string[];
  use(at: Date, transactionSession: ClientSession): Promise<FactorUse | undefined>;
}

type Compare<G> = (user: PresentUser, given: G, origin: RequestOrigin) => Promise<Compared | undefined>;

/**
 * Creates the check of a second factor, which the limits must admit first. When a place has used up its tries, or
 * tries again and again, the owner is warned. A wrong passkey uses up no try, because it cannot be guessed.
 *
 * Raises `ERR-SECOND-FACTOR-INVALID` for a wrong code and for one that was used before, `ERR-PASSKEY-INVALID`, and
 * `ERR-RATE-LIMITED`.
 */
export function createCheckFactor(deps: CheckFactorDeps): CheckFactor {
  const { limits, audit, warnOfGuesses } = deps;
  const byTotp = createByTotp(deps);
  const byRecoveryCode = createByRecoveryCode(deps);
  const byPasskey = createByPasskey(deps);

  function compare(user: PresentUser, given: GivenFactor, origin: RequestOrigin): Promise<Compared | undefined> {
    if (given.method === 'passkey') return byPasskey(user, given, origin);
    return given.method === 'totp' ? byTotp(user, given, origin) : byRecoveryCode(user, given, origin);
  }

  return async (user, given, source, origin) => {
    const { _id: user_id } = user;
    const attempt = { account: user, ...source, isGuess: given.method !== 'passkey' };
    const { triesLeft, isAlarming, giveBack, succeed } = await limits.secondFactor(attempt, origin);
    const refused = () => {
      audit({ event: 'second_factor.failed', user_id, reason: given.method }, origin);
      return new AppError('ERR-SECOND-FACTOR-INVALID', { details: { tries_left: triesLeft } });
    };
    // An outage on the way, such as a key that has not arrived here yet, is no wrong factor.
    const settle = async (error: unknown): Promise<never> => {
      if (isWrongPasskey(error)) audit({ event: 'second_factor.failed', user_id, reason: 'passkey' }, origin);
      const isWrong = isAppError(error) && error.code === 'ERR-SECOND-FACTOR-INVALID';
      if (!isWrong) await giveBack();
      else if (isAlarming) await warnOfGuesses('second_factor', user, origin);
      throw error;
    };
    const compareOnce = async () => {
      const found = await compare(user, given, origin);
      if (found === undefined) throw refused();
      return found;
    };
    const compared = await compareOnce().catch(settle);
    return {
      amr: compared.amr,
      async during(work) {
        const done = await work().catch(settle);
        await succeed();
        return done;
      },
      async use(at, session) {
        const used = await compared.use(at, session);
        if (used === undefined) throw refused();
        const succeeded = { event: 'second_factor.succeeded', user_id, method: given.method } as const;
        return { ...used, audit: [succeeded, ...used.audit] };
      },
    };
  };
}

const codeAmr = ['otp', 'mfa'];

function createByTotp({ secondFactors, openSeed, hostNow }: CheckFactorDeps): Compare<{ readonly code: string }> {
  return async (user, { code }) => {
    const { _id, totp } = user;
    if (totp === undefined) return;
    const seed = await openSeed(user, totp);
    const step = totpStepOf(seed, code, hostNow());
    if (step === undefined) return;
    return {
      amr: codeAmr,
      async use(_at, session) {
        // Only this write knows which steps were used.
        const use = { factorId: totp.factor_id, step, recoveryKey: recoveryKeyOf(seed) };
        const isUsed = await secondFactors.useStep(_id, use, session);
        return isUsed ? { events: [], audit: [] } : undefined;
      },
    };
  };
}

function createByRecoveryCode(deps: CheckFactorDeps): Compare<{ readonly code: string }> {
  const { secondFactors, openSeed, ids } = deps;
  return async (user, { code }, origin) => {
    const { _id: user_id, totp, recovery_codes = [] } = user;
    const stored = totp && findRecoveryCode(await findRecoveryKey(openSeed, user, totp), code, recovery_codes);
    if (stored === undefined) return;
    return {
      amr: codeAmr,
      async use(at, session) {
        const left = await secondFactors.useRecoveryCode(user_id, stored, session);
        if (left === undefined) return;
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

function createByPasskey({
  passkeyProof,
}: CheckFactorDeps): Compare<Extract<GivenFactor, { readonly method: 'passkey' }>> {
  const rules = { requireUv: true, requireHandle: false };
  return async (user, { challengeId, credential }, origin) => {
    const proved = await passkeyProof(user, { challengeId, credential }, rules, origin);
    return {
      amr: proved.auth.amr,
      async use(at, session) {
        return { events: [], ...(await proved.use(user, at, session)) };
      },
    };
  };
}

function isWrongPasskey(error: unknown): boolean {
  return isAppError(error) && error.code === 'ERR-PASSKEY-INVALID';
}
