import type { AccountResponse } from '@auth-account/contracts/http/account';
import { AppError } from '@auth-account/errors';
import type { UserStore } from '@auth-account/stores';
import { describeAccount } from '@auth-account/stores/account-export';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';

export interface FindAccountDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly now: () => Date;
}

/** Returns the caller's account. Raises `IAD_JWT_ACCESS_INVALID` if the account is gone. */
export function createFindAccount({ users, now }: FindAccountDeps) {
  return async ({ user_id }: VerifiedAccessToken): Promise<AccountResponse['data']> => {
    const user = await users.find(user_id);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const at = now();
    return { ...describeAccount(user, at), timestamp: at.toISOString() };
  };
}
