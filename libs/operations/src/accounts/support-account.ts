import { ConfigError } from '@auth-account/config';
import type { AccountCountStore, AccountCounts } from '@auth-account/redis';
import { exportAccount } from '@auth-account/stores/account-export';
import type { UserDocument } from '@auth-account/stores/documents';
import type { Use } from '../context.ts';
import { OperationError } from '../operation-error.ts';
import { type AccountChange, type AccountContext, describeAccount, planChange } from './change-account.ts';

/**
 * Lets the work use what the limits count for accounts. The names of the counts are HMACs, so the server's keys are
 * needed. Rejects with an `OperationError` or a `ConfigError` if the keys or Redis are not there.
 */
export type UseCounts = Use<AccountCountStore>;

/** Returns what the limits count for the account, or the reason for which that can't be read. */
export async function countsOf(
  useCounts: UseCounts,
  { email_key }: UserDocument,
): Promise<AccountCounts | { readonly unknown: string }> {
  try {
    return await useCounts((counts) => counts.read(email_key));
  } catch (error) {
    if (error instanceof OperationError) return { unknown: error.message };
    if (error instanceof ConfigError) return { unknown: 'a variable of Redis is missing or wrong' };
    throw error;
  }
}

/** Returns what the limits count, as lines for a terminal. */
export async function limitsOf(useCounts: UseCounts, user: UserDocument) {
  const counts = await countsOf(useCounts, user);
  return 'unknown' in counts ? { limits: `unknown: ${counts.unknown}` } : describe(counts);
}

/** Times of a list that are shown. */
const shown = 20;

function describe(counts: AccountCounts) {
  const iso = (time: number) => new Date(time).toISOString();
  return {
    limits_account: counts.tag,
    known_places: counts.places,
    known_places_with_failures: counts.knownWithFailures,
    wrong_passwords: counts.wrongPasswords.unknown,
    wrong_passwords_from_known: counts.wrongPasswords.known,
    wrong_passwords_today: counts.failures.length,
    login_elsewhere_from: counts.loginFrom > 0 ? iso(counts.loginFrom) : null,
    wrong_factors: counts.wrongFactors.unknown,
    wrong_factors_from_known: counts.wrongFactors.known,
    factor_tries_elsewhere: counts.factorTries.slice(0, shown).map(iso),
    codes_asked_elsewhere: counts.codes.slice(0, shown).map(iso),
  };
}

/**
 * Plans to let an account try passwords, second factors and codes anew, wherever its owner is. Throws what `planChange`
 * throws. The plan's run rejects with the error of `useCounts`.
 */
export function planUnlock(
  { useCounts, ...context }: AccountContext & { readonly useCounts: UseCounts },
  idOrEmail: string,
) {
  const questionOf = (user: UserDocument) =>
    `Forget what the limits count for the account ${describeAccount(user)}? Its holder and anybody else can then try anew.`;
  const change = async ({ user, audit, reason, requestId }: AccountChange) => {
    await useCounts((counts) => counts.clear(user.email_key, user.recovered_at));
    audit({ event: 'account.unlocked', operator_reason: reason });
    return { user_id: user._id, request_id: requestId };
  };
  return planChange(context, idOrEmail, { questionOf, change });
}

/**
 * Plans to export all data that is held about a person, as `POST /api/v1/account/export` gives it to its owner. The
 * export is in the audit log. Throws what `planChange` throws. The plan's run throws an `OperationError` of the kind
 * `unknown` if the account is being erased.
 */
export function planExport(context: AccountContext, idOrEmail: string) {
  const questionOf = (user: UserDocument) => `Export all data that is held about the account ${describeAccount(user)}?`;
  const change = async ({ user: { _id: user_id }, stores, now, audit, reason }: AccountChange) => {
    const user = await stores.users.find(user_id);
    if (user === undefined) throw new OperationError('unknown', `The account ${user_id} is being erased.`);
    const held = await exportAccount(stores, user, now);
    audit({ event: 'account.exported', operator_reason: reason });
    return held;
  };
  return planChange(context, idOrEmail, { questionOf, change });
}
