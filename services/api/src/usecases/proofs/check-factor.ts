import type { UsedCredential } from '@auth-account/contracts/http/passkey-credentials';
import { isAppError } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import type { ConfirmedTotp, SealedSeed, UserDocument } from '@auth-account/stores/documents';
import type { SealedSecrets } from '@auth-account/tokens';
import type { Audit } from '../../audit/audit.ts';
import type { FactorAttempt, Limits } from '../../limits/limits.ts';
import { malformedField } from '../../request/field-errors.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { createAwaitKey } from '../../security/await-key.ts';
import { findRecoveryCode, recoveryKeyOf } from '../../security/recovery-codes.ts';
import { totpStepOf } from '../../security/totp.ts';
import type { PasskeyProof } from './passkey-proof.ts';
import { factorInvalid, type RightFactor } from './use-proof.ts';
import type { WarnOfGuesses } from './warn-of-guesses.ts';

/** The fields of a body that have a second factor. */
export type FactorFields =
  | { readonly method: 'totp' | 'recovery_code'; readonly code: string }
  | { readonly method: 'passkey'; readonly challenge_id: string; readonly credential: UsedCredential };

/** A second factor as a request has it. */
export type GivenFactor =
  | { readonly method: 'totp' | 'recovery_code'; readonly code: string }
  | { readonly method: 'passkey'; readonly challengeId: string; readonly credential: UsedCredential };

/** Forms of the codes, as `codeAsMeant` returns them. A recovery code may have digits that are misread letters. */
const codeForms = { totp: /^\d{6}$/, recovery_code: /^[A-Z0-8]{25}$/, email_code: /^\d{8}$/ } as const;

/**
 * Returns the code of a body. Raises `ERR-VALIDATION-FAILED` if it cannot be a code of its method, which uses up no try.
 */
export function givenCode(method: keyof typeof codeForms, code: string): string {
  if (!codeForms[method].test(code)) throw malformedField('code');
  return code;
}

/** Returns the factor of a body. Raises `ERR-VALIDATION-FAILED` if its code cannot be one. */
export function givenFactor(given: FactorFields): GivenFactor {
  if (given.method !== 'passkey') return { method: given.method, code: givenCode(given.method, given.code) };
  return { method: given.method, challengeId: given.challenge_id, credential: given.credential };
}

export interface CheckFactorDeps {
  readonly openSeed: OpenSeed;
  readonly passkeyProof: PasskeyProof;
  readonly limits: Pick<Limits, 'secondFactor'>;
  readonly warnOfGuesses: WarnOfGuesses;
  readonly audit: Audit;
  /** The host's clock, with which users' authenticator apps must agree. */
  readonly hostNow: () => Date;
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

/**
 * Checks a second factor, which the limits must admit first. When a device or network has used up its tries, or tries
 * again and again, the owner is warned. A wrong passkey uses up no try, because it cannot be guessed. What uses the
 * factor up must run in {@link SettleTry}.
 *
 * Raises `ERR-SECOND-FACTOR-INVALID` for a wrong code and for one that was used before, `ERR-PASSKEY-INVALID`, and
 * `ERR-RATE-LIMITED`.
 */
export function createCheckFactor(deps: CheckFactorDeps): CheckFactor {
  const { limits, audit } = deps;
  const compare = createCompare(deps);
  const giveBackUnlessWrong = createGiveBackUnlessWrong(deps);

  return async (user, given, source, origin) => {
    const tried = { account: user, ...source, isGuess: given.method !== 'passkey' };
    const attempt = await limits.secondFactor(tried, origin);
    try {
      const compared = await compare(user, given, origin);
      if (compared !== undefined) return { kind: 'second_factor', ...compared, attempt };
      audit({ event: 'second_factor.failed', user_id: user._id, reason: given.method }, origin);
      throw factorInvalid(attempt.triesLeft);
    } catch (error) {
      await giveBackUnlessWrong(error, user, attempt, origin);
      throw error;
    }
  };
}

/**
 * Returns the result of the work that uses the factor up. The try counts only if the work fails because another request
 * was faster.
 */
export type SettleTry = <T>(
  work: Promise<T>,
  factor: RightFactor,
  user: PresentUser,
  origin: RequestOrigin,
) => Promise<T>;

export function createSettleTry(deps: Pick<CheckFactorDeps, 'warnOfGuesses' | 'audit'>): SettleTry {
  const giveBackUnlessWrong = createGiveBackUnlessWrong(deps);
  return async (work, { attempt }, user, origin) => {
    try {
      const done = await work;
      await attempt.succeed();
      return done;
    } catch (error) {
      await giveBackUnlessWrong(error, user, attempt, origin);
      throw error;
    }
  };
}

/**
 * Ends a try that has failed. An outage on the way, such as a key that has not arrived here yet, is no wrong factor.
 */
function createGiveBackUnlessWrong({ warnOfGuesses, audit }: Pick<CheckFactorDeps, 'warnOfGuesses' | 'audit'>) {
  return async (
    error: unknown,
    user: PresentUser,
    { giveBack, isAlarming }: RightFactor['attempt'],
    origin: RequestOrigin,
  ): Promise<void> => {
    const code = isAppError(error) ? error.code : undefined;
    if (code === 'ERR-PASSKEY-INVALID') {
      audit({ event: 'second_factor.failed', user_id: user._id, reason: 'passkey' }, origin);
    }
    if (code !== 'ERR-SECOND-FACTOR-INVALID') await giveBack();
    else if (isAlarming) await warnOfGuesses('second_factor', user, origin);
  };
}

const codeAmr = ['otp', 'mfa'];

/** Compares the factor. Returns undefined for a wrong code. */
function createCompare({ openSeed, passkeyProof, hostNow }: CheckFactorDeps) {
  const passkeyRules = { requireUv: true, requireHandle: false };
  return async (
    user: PresentUser,
    given: GivenFactor,
    origin: RequestOrigin,
  ): Promise<Pick<RightFactor, 'by' | 'amr'> | undefined> => {
    if (given.method === 'passkey') {
      const by = await passkeyProof(user, given, passkeyRules, origin);
      return { by, amr: by.auth.amr };
    }
    const { totp, recovery_codes = [] } = user;
    if (totp === undefined) return;
    if (given.method === 'totp') {
      const seed = await openSeed(user, totp);
      const step = totpStepOf(seed, given.code, hostNow());
      const use = { factorId: totp.factor_id, recoveryKey: recoveryKeyOf(seed) };
      return step === undefined ? undefined : { by: { kind: 'totp', ...use, step }, amr: codeAmr };
    }
    const stored = findRecoveryCode(await findRecoveryKey(openSeed, user, totp), given.code, recovery_codes);
    return stored === undefined ? undefined : { by: { kind: 'recovery_code', stored }, amr: codeAmr };
  };
}

export interface OpenSeedDeps {
  readonly sealedSecrets: SealedSecrets;
  readonly now: () => Date;
}

/** Returns the seed of a user's authenticator app. */
export type OpenSeed = (user: Pick<UserDocument, '_id'>, sealed: SealedSeed) => Promise<Buffer>;

/**
 * Opens sealed seeds. Throws `MissingKeyError` (503) if the server key has not arrived here yet, or was removed before
 * the worker had sealed the seed under a newer key.
 */
export function createOpenSeed({ sealedSecrets, now }: OpenSeedDeps): OpenSeed {
  const awaitKey = createAwaitKey(sealedSecrets, now);
  return async ({ _id: userId }, { factor_id: factorId, kid, seed }) => {
    await awaitKey({ kid });
    return sealedSecrets.open({ kid, box: Buffer.from(seed.value()) }, { userId, factorId });
  };
}

/** Returns the key of the user's recovery codes. The seed is opened only if an earlier release has stored no key. */
export async function findRecoveryKey(
  openSeed: OpenSeed,
  user: Pick<UserDocument, '_id'>,
  totp: ConfirmedTotp,
): Promise<Uint8Array> {
  return totp.recovery_key?.value() ?? recoveryKeyOf(await openSeed(user, totp));
}
