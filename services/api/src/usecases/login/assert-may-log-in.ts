import { AppError, isAppError, type ThrowableCode } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import type { LoginRefusal } from '../../audit/events.ts';

/**
 * Raises `ERR-ACCOUNT-DISABLED` or `ERR-ACCOUNT-DELETION-SCHEDULED` if nobody may log in to the account now. Only a
 * caller whose proof was right may learn this.
 */
export function assertMayLogIn({ disabled_at, deletes_at }: PresentUser): void {
  if (disabled_at !== undefined) throw new AppError('ERR-ACCOUNT-DISABLED');
  if (deletes_at !== undefined) {
    throw new AppError('ERR-ACCOUNT-DELETION-SCHEDULED', { details: { deletes_at: deletes_at.toISOString() } });
  }
}

/**
 * Returns true if a login found that the address, the password or another way in was changed since its proof was checked.
 * Each way but the password tells that as a challenge that does not count any more.
 */
export function areCredentialsChanged(error: unknown): boolean {
  return isAppError(error) && error.code === 'ERR-INVALID-CREDENTIALS';
}

const refusals: Partial<Readonly<Record<ThrowableCode, LoginRefusal>>> = {
  'ERR-INVALID-CREDENTIALS': 'credentials_changed',
  'ERR-ACCOUNT-DISABLED': 'account_disabled',
  'ERR-ACCOUNT-DELETION-SCHEDULED': 'deletion_scheduled',
};

/** Returns the audit log's reason why a login with a right proof was refused; undefined for any other error. */
export function loginRefusalOf(error: unknown): LoginRefusal | undefined {
  return isAppError(error) ? refusals[error.code] : undefined;
}
