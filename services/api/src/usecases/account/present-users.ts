import type { UserStore } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';
import { isDue } from '@auth-account/stores/users';

/**
 * Returns the users as every use case sees them. An account is unknown from the time at which it is due to be erased.
 * No operation answers for it, and the limits do not learn its data again after the worker has made them forget the
 * data.
 */
export function presentUsers<T extends Pick<UserStore, 'find' | 'findByEmail' | 'findAddressee'>>(
  users: T,
  now: () => Date,
): T {
  const present = <U extends Pick<UserDocument, 'deletes_at'>>(user: U | undefined) =>
    user && !isDue(user, now()) ? user : undefined;
  return {
    ...users,
    find: async (userId: string) => present(await users.find(userId)),
    findByEmail: async (email: string) => present(await users.findByEmail(email)),
    findAddressee: async (of: Parameters<UserStore['findAddressee']>[0]) => present(await users.findAddressee(of)),
  };
}
