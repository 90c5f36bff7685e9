import type { UserStore } from '@auth-account/stores';
import { presentUser } from '@auth-account/stores/present-users';

/**
 * Returns the users as every use case sees them: see {@link presentUser}. No operation answers for an account that is
 * due to be erased, and the limits do not learn its data again after the worker has made them forget the data.
 */
export function presentUsers<T extends Pick<UserStore, 'find' | 'findByEmail' | 'findAddressee'>>(
  users: T,
  now: () => Date,
): T {
  return {
    ...users,
    find: async (userId: string) => presentUser(await users.find(userId), now()),
    findByEmail: async (email: string) => presentUser(await users.findByEmail(email), now()),
    findAddressee: async (of: Parameters<UserStore['findAddressee']>[0]) =>
      presentUser(await users.findAddressee(of), now()),
  };
}
