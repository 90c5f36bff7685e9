import { type ClientGroup, endWith, methodsOf } from '../calls/client-group.ts';
import { type AccountMethods, accountMethods } from '../generated/methods.ts';

export interface Account {
  readonly account: AccountWithOwn;
}

interface AccountWithOwn extends AccountMethods {
  /** Orders the deletion of the account after the grace period. On this device the user is signed out at once. */
  delete: AccountMethods['delete'];
}

/** Operations on the user's own account, and codes by e-mail. */
export const account: ClientGroup<Account> = ({ call, sessionManager }) => {
  const plain = methodsOf(accountMethods, call);
  return {
    account: { ...plain, delete: (body) => endWith(sessionManager, 'account_deleted', () => plain.delete(body)) },
  };
};
