import type { AccountResponse, ChangeAccountRequest } from '@auth-account/contracts/http/account';
import { AppError } from '@auth-account/errors';
import type { UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Audit } from '../../audit/audit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { describeAccount } from './find-account.ts';

export interface ChangeAccountDeps {
  readonly users: Pick<UserStore, 'changeProfile'>;
  readonly audit: Audit;
  readonly now: () => Date;
}

/** Changes the caller's name or language. Raises `IAD_JWT_ACCESS_INVALID` if the account is gone. */
export function createChangeAccount({ users, audit, now }: ChangeAccountDeps) {
  return async (
    { display_name, locale }: ChangeAccountRequest,
    { user_id, sid: session_id }: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<AccountResponse['data']> => {
    const at = now();
    const user = await users.changeProfile(user_id, { display_name, locale }, at);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    audit({ event: 'account.changed', user_id, session_id }, origin);
    return { ...describeAccount(user, at), timestamp: at.toISOString() };
  };
}
