import { type AccountCounts, factorTryLimits, sharedTotal } from '@auth-account/redis';
import type { UserDocument } from '@auth-account/stores/documents';

const dayMs = 86_400_000;

/** Rules of the running apis; undefined where none has reported. */
export interface LoginRules {
  readonly verified_email?: boolean;
  readonly wrong_passwords_a_day?: number;
}

/**
 * Returns what stands in the way of a login on an unknown device, in the order of docs/cant-log-in.md, and whether one
 * with the right password and second factor works. Without the limits' counts it says nothing about limits.
 */
export function judgeLogins(user: UserDocument, counts: AccountCounts | undefined, rules: LoginRules, now: Date) {
  const found = [
    ...obstaclesOfAccount(user, rules),
    ...(user.identities ?? []).flatMap(({ provider, disabled_at, relay_off_at }) => [
      ...(disabled_at ? [{ kind: 'identity_disabled' as const, provider, at: disabled_at }] : []),
      ...(relay_off_at ? [{ kind: 'relay_off' as const, provider, at: relay_off_at }] : []),
    ]),
    ...(counts === undefined ? [] : obstaclesOfLimits(user, counts, rules, now.getTime())),
  ];
  // Other sign-in methods are not touched by those of an identity.
  const works = found.every(({ kind }) => kind === 'identity_disabled' || kind === 'relay_off');
  return { works, obstacles: found };
}

function obstaclesOfAccount(user: UserDocument, { verified_email }: LoginRules) {
  const { disabled_at, disabled_reason = null, deletes_at, email_verified_at, is_password_void } = user;
  return [
    ...(disabled_at ? [{ kind: 'disabled' as const, at: disabled_at, reason: disabled_reason }] : []),
    ...(deletes_at ? [{ kind: 'deletion_ordered' as const, deletes_at }] : []),
    ...(verified_email === true && email_verified_at === undefined ? [{ kind: 'email_not_verified' as const }] : []),
    ...(is_password_void === true ? [{ kind: 'password_void' as const }] : []),
  ];
}

function obstaclesOfLimits(user: UserDocument, counts: AccountCounts, rules: LoginRules, now: number) {
  const last = rules.wrong_passwords_a_day === undefined ? undefined : counts.failures[rules.wrong_passwords_a_day - 1];
  const until = Math.max(counts.loginFrom, last === undefined ? 0 : last + dayMs);
  const factorUntil = user.totp === undefined ? undefined : factorsLockedUntil(user, counts, now);
  return [
    ...(until > now ? [{ kind: 'locked_elsewhere' as const, until: new Date(until) }] : []),
    ...(counts.wrongPasswords.unknown >= sharedTotal ? [{ kind: 'too_many_wrong_passwords' as const }] : []),
    ...(factorUntil === undefined ? [] : [{ kind: 'too_many_wrong_factors' as const, until: factorUntil }]),
  ];
}

/** Returns the wrong second factors that count: a recovery begins them anew at the next try. */
export function wrongFactorsOf({ recovered_at }: UserDocument, { wrongFactors }: AccountCounts) {
  const isAnew = (recovered_at?.getTime() ?? 0) > wrongFactors.since;
  return isAnew ? { unknown: 0, known: 0 } : wrongFactors;
}

/** Returns the time from which a second factor may be tried; null if not before the holder does something. */
function factorsLockedUntil(user: UserDocument, counts: AccountCounts, now: number): Date | null | undefined {
  if (wrongFactorsOf(user, counts).unknown >= sharedTotal) return null;
  const { perWindow, windowMs, perDay } = factorTryLimits;
  const { factorTries } = counts;
  const untils = [(factorTries[perWindow - 1] ?? 0) + windowMs, (factorTries[perDay - 1] ?? 0) + dayMs];
  const until = Math.max(...untils);
  return until > now ? new Date(until) : undefined;
}
