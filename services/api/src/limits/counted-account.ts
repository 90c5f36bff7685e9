import { emailKey } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';

/** The account whose requests a limit counts, as it is stored now. */
export type CountedAccount = Pick<UserDocument, '_id' | 'email' | 'recovered_at'>;

/**
 * Returns the name under which an account's requests are counted: its id, or its address if the limit is one of the
 * address. A recovery gives the account another name, so that all its counts begin anew, in every process and without
 * Redis.
 */
export function countedAs({ _id, email, recovered_at }: CountedAccount, per: 'account' | 'e-mail address'): string {
  const name = per === 'account' ? _id : emailKey(email);
  return recovered_at === undefined ? name : `${name} ${recovered_at.getTime()}`;
}
