import { type AppError as AnyAppError, AppError } from '@auth-account/errors';
import type { UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';

/**
 * Returns the error for a caller who does not own the group of the access token. It is `ERR-GROUP-OWNER-REQUIRED` for a
 * member. If the caller has left the group but the deny list does not show that yet, it is `IAD_JWT_ACCESS_INVALID`, so
 * that the app refreshes and asks again.
 */
export async function nonOwnerError(
  users: Pick<UserStore, 'isMember'>,
  { home_group_id, user_id }: VerifiedAccessToken,
): Promise<AnyAppError> {
  const isMember = await users.isMember(home_group_id, user_id);
  return isMember ? new AppError('ERR-GROUP-OWNER-REQUIRED') : new AppError('IAD_JWT_ACCESS_INVALID');
}
