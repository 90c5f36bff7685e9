import type { Account, AccountResponse } from '@auth-account/contracts/http/account';
import { AppError } from '@auth-account/errors';
import type { PresentUser, UserStore } from '@auth-account/stores';
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

/** Returns the account as its owner sees it. Documents that earlier versions wrote lack the optional fields. */
export function describeAccount(user: PresentUser, now: Date): Account {
  const { pending_email = null, pending_email_until } = user;
  return {
    user_id: user._id,
    email: user.email,
    email_verified: user.email_verified_at !== undefined,
    pending_email: pending_email_until !== undefined && pending_email_until > now ? pending_email : null,
    display_name: user.display_name ?? null,
    locale: user.locale ?? null,
    home_group_id: user.home_group_id,
    account_type: user.account_type,
    role: user.role,
    created_at: user.created_at.toISOString(),
    password_changed_at: (user.password_changed_at ?? user.created_at).toISOString(),
    has_password: user.is_password_void !== true,
  };
}
