import type { IdentityListResponse } from '@auth-account/contracts/http/federated';
import { AppError } from '@auth-account/errors';
import type { UserStore } from '@auth-account/stores';
import { describeIdentity } from '@auth-account/stores/account-export';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';

export interface ListIdentitiesDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly now: () => Date;
}

/** Lists the caller's identities. Raises `IAD_JWT_ACCESS_INVALID` if the account is gone. */
export function createListIdentities({ users, now }: ListIdentitiesDeps) {
  return async ({ user_id }: VerifiedAccessToken): Promise<IdentityListResponse['data']> => {
    const user = await users.find(user_id);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    return { identities: (user.identities ?? []).map(describeIdentity), timestamp: now().toISOString() };
  };
}
