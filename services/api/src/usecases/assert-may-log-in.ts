import { AppError } from '@auth-account/errors';
import type { UserDocument } from '@auth-account/stores/documents';

/**
 * Raises `ERR-ACCOUNT-DISABLED` or `ERR-ACCOUNT-DELETION-SCHEDULED` if nobody may log in to the account now. Only
 * whoever knows the password may learn it.
 */
export function assertMayLogIn({ disabled_at, deletes_at }: Pick<UserDocument, 'disabled_at' | 'deletes_at'>): void {
  if (disabled_at !== undefined) throw new AppError('ERR-ACCOUNT-DISABLED');
  if (deletes_at !== undefined) {
    throw new AppError('ERR-ACCOUNT-DELETION-SCHEDULED', { details: { deletes_at: deletes_at.toISOString() } });
  }
}
