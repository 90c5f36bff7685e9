import { sinceRecovery } from '@auth-account/redis';
import { emailKey } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';

/** The account whose requests a limit counts, as it is stored now. */
export type CountedAccount = Pick<UserDocument, '_id' | 'email' | 'recovered_at'>;

/**
 * Returns the name under which an account's requests are counted: its id, or its email address if the limit is one of
 * the address.
 */
export function countedAs({ _id, email, recovered_at }: CountedAccount, per: 'account' | 'e-mail address'): string {
  return sinceRecovery(per === 'account' ? _id : emailKey(email), recovered_at);
}
