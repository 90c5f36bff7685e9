import type { IdentityListResponse } from '@auth-account/contracts/http/federated';
import type { Identity } from '@auth-account/contracts/http/identity';
import { AppError } from '@auth-account/errors';
import type { UserStore } from '@auth-account/stores';
import type { IdentityDocument } from '@auth-account/stores/documents';
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

/** Returns the identity in the form that its owner gets. */
export function describeIdentity(identity: IdentityDocument): Identity {
  const { id, provider, email, relay_off_at, disabled_at, created_at } = identity;
  return {
    identity_id: id,
    provider,
    email: email ?? null,
    relay_off: relay_off_at !== undefined,
    disabled: disabled_at !== undefined,
    created_at: created_at.toISOString(),
  };
}
