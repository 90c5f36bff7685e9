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
  return sinceRecovery(per === 'account' ? _id : emailKey(email), recovered_at);
}

/** Returns the name of what is counted from the account's latest recovery on. */
export function sinceRecovery(name: string, recoveredAt: Date | undefined): string {
  return recoveredAt === undefined ? name : `${name} ${recoveredAt.getTime()}`;
}
