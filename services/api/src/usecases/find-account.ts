import type { AccountResponse } from '@auth-account/contracts/http/account';
import { AppError } from '@auth-account/errors';
import type { UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/tokens';
import { describeAccount } from './describe-account.ts';

export interface FindAccountDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly now: () => Date;
}

/** Returns the caller's account. Raises `IAD_JWT_ACCESS_INVALID` if it is gone. */
export function createFindAccount({ users, now }: FindAccountDeps) {
  return async ({ user_id }: VerifiedAccessToken): Promise<AccountResponse['data']> => {
    const user = await users.find(user_id);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const at = now();
    return { ...describeAccount(user, at), timestamp: at.toISOString() };
  };
}
