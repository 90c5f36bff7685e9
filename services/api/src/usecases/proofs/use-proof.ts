import { AppError } from '@auth-account/errors';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import type { PresentUser } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import type { PasskeyDocument, SessionAuth } from '@auth-account/stores/documents';
import type { PasskeyStore } from '@auth-account/stores/passkeys';
import type { SecondFactorStore, StepUse } from '@auth-account/stores/second-factors';
import type { ClientSession } from 'mongodb';
import { none, type Outcome } from '../../announcements/commit.ts';
import type { Audit } from '../../audit/audit.ts';
import type { FactorTry } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';

/** A code from a mailbox that was right. Its challenge is used up in the transaction of the change that it permits. */
export interface RightCode {
  readonly kind: 'email_code';
  readonly user: PresentUser;
  readonly challengeId: string;
  /** Random id of this confirmation. */
  readonly usedBy: string;
}

/**
 * Uses up the challenge of a code. Raises `ERR-CODE-INVALID` if, since the code was compared, the challenge was used,
 * has ended, or has lost its last try.
 */
export async function useCode(
  challenges: Pick<ChallengeStore, 'use'>,
  { challengeId, usedBy }: RightCode,
  at: Date,
  session: ClientSession,
): Promise<void> {
  if (!(await challenges.use(challengeId, usedBy, at, session))) throw codeInvalid();
}

/** Returns true if this confirmation of the code, and no other, took effect. */
export function isCodeUsed(
  challenges: Pick<ChallengeStore, 'wasUsed'>,
  { challengeId, usedBy }: RightCode,
): Promise<boolean> {
  return challenges.wasUsed(challengeId, usedBy);
}

/** A passkey that has signed its challenge. Nothing has been written yet. */
export interface RightPasskey {
  readonly kind: 'passkey';
  readonly passkeyId: string;
  /** State of the authenticator. */
  readonly state: Pick<PasskeyDocument, 'counter' | 'is_backup_eligible' | 'is_backed_up'>;
  /** The passkey's part of the session's `amr` and `acr`. A passkey that has verified its user is two factors. */
  readonly auth: Omit<SessionAuth, 'at'>;
}

/** A second factor that was right. It counts once. */
export interface RightFactor {
  readonly kind: 'second_factor';
  readonly by: RightTotp | RightRecoveryCode | RightPasskey;
  /** Methods of RFC 8176. */
  readonly amr: readonly string[];
  readonly attempt: FactorTry;
}

export interface RightTotp extends StepUse {
  readonly kind: 'totp';
}

export interface RightRecoveryCode {
  readonly kind: 'recovery_code';
  /** Its stored hash. */
  readonly stored: string;
}

/** A proof that counts once, with all that its use needs. */
export type RightProof = RightCode | RightPasskey | RightFactor;

/** Announcements that the use of a proof makes. */
export type ProofUse = Pick<Outcome, 'events' | 'audit'>;

export interface UseProofDeps {
  readonly challenges: Pick<ChallengeStore, 'use'>;
  readonly passkeys: Pick<PasskeyStore, 'noteUse'>;
  readonly secondFactors: Pick<SecondFactorStore, 'useStep' | 'useRecoveryCode'>;
  readonly audit: Audit;
  readonly ids: Pick<Ids, 'entityId'>;
}

/** The account whose proof is used, and the request that gives it. */
export interface UsedFor {
  readonly user: PresentUser;
  readonly at: Date;
  readonly origin: RequestOrigin;
}

/**
 * Uses up a proof by its conditional write, in the transaction of what it permits.
 *
 * Raises `ERR-CODE-INVALID`, `ERR-PASSKEY-INVALID` if the passkey was removed since the check, and
 * `ERR-SECOND-FACTOR-INVALID` if another request was faster.
 */
export async function useProof(
  deps: UseProofDeps,
  proof: RightProof,
  of: UsedFor,
  session: ClientSession,
): Promise<ProofUse> {
  if (proof.kind === 'passkey') return usePasskey(deps, proof, of, session);
  if (proof.kind === 'second_factor') return useFactor(deps, proof, of, session);
  await useCode(deps.challenges, proof, of.at, session);
  return { events: none, audit: none };
}

/**
 * Writes the state of the authenticator. A counter that has not risen, also since a simultaneous use, is audited: the
 * authenticator may have been copied, but an authenticator that counts wrongly must not keep its owner out. A changed
 * backup state is stored, and so is the eligibility for backups that a passkey has gained, because some password managers
 * grant it later.
 */
async function usePasskey(
  { passkeys }: UseProofDeps,
  { passkeyId: passkey_id, state }: RightPasskey,
  { user: { _id: user_id }, at }: UsedFor,
  session: ClientSession,
): Promise<ProofUse> {
  const before = await passkeys.noteUse(user_id, passkey_id, { ...state, at }, session);
  if (before === undefined) throw new AppError('ERR-PASSKEY-INVALID');
  const own = { user_id, passkey_id };
  const gained = state.is_backup_eligible && !before.is_backup_eligible;
  return {
    events: none,
    audit: [
      ...(hasFallen(state, before) ? [{ event: 'passkey.counter_fell', ...own } as const] : []),
      ...(gained ? [{ event: 'passkey.backup_eligible', ...own } as const] : []),
    ],
  };
}

/** Returns true if an authenticator that counts its signatures has not counted this one. */
function hasFallen({ counter }: RightPasskey['state'], { counter: before }: PasskeyDocument): boolean {
  return before > 0 && counter <= before;
}

async function useFactor(
  deps: UseProofDeps,
  { by, attempt: { triesLeft } }: RightFactor,
  of: UsedFor,
  session: ClientSession,
): Promise<ProofUse> {
  const used = by.kind === 'passkey' ? await usePasskey(deps, by, of, session) : await useSecret(deps, by, of, session);
  const { _id: user_id } = of.user;
  if (used === undefined) {
    deps.audit({ event: 'second_factor.failed', user_id, reason: by.kind }, of.origin);
    throw factorInvalid(triesLeft);
  }
  const succeeded = { event: 'second_factor.succeeded', user_id, method: by.kind } as const;
  return { ...used, audit: [succeeded, ...used.audit] };
}

/** Below this number of recovery codes, each use is mailed. */
const minCodes = 3;

/** Returns undefined if another request was faster. */
async function useSecret(
  { secondFactors, ids }: UseProofDeps,
  by: RightTotp | RightRecoveryCode,
  { user, at, origin }: UsedFor,
  session: ClientSession,
): Promise<ProofUse | undefined> {
  const { _id: user_id } = user;
  if (by.kind === 'totp') {
    // Only this write knows which steps were used.
    const isUsed = await secondFactors.useStep(user_id, by, session);
    return isUsed ? { events: none, audit: none } : undefined;
  }
  const recovery_codes_left = await secondFactors.useRecoveryCode(user_id, by.stored, session);
  if (recovery_codes_left === undefined) return;
  const notified = {
    user_id,
    purpose: 'recovery_codes',
    locale: mailLocale(user, origin),
    recovery_codes_left,
  } as const;
  const notice = createAccountEvent('service.auth.events.notice', notified, eventOrigin(origin, at, ids));
  return {
    events: recovery_codes_left < minCodes ? [notice] : none,
    audit: [{ event: 'recovery_code.used', user_id, recovery_codes_left }],
  };
}

/** Returns `ERR-SECOND-FACTOR-INVALID`. */
export function factorInvalid(triesLeft: number): AppError {
  return new AppError('ERR-SECOND-FACTOR-INVALID', { details: { tries_left: triesLeft } });
}

/** Returns `ERR-CODE-INVALID`. A dead or unknown challenge has no tries left. */
export function codeInvalid(triesLeft = 0): AppError {
  return new AppError('ERR-CODE-INVALID', { details: { tries_left: triesLeft } });
}
