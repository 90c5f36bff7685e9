import type { IdentityUnlinkedResponse, UnlinkIdentityRequest } from '@auth-account/contracts/http/federated';
import { AppError } from '@auth-account/errors';
import { identityUnlinkedEvents } from '@auth-account/messaging/account-events';
import type { PresentUser } from '@auth-account/stores';
import type { IdentityStore } from '@auth-account/stores/identities';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { RemovedMethod, RemoveSignInMethod } from '../credentials/remove-sign-in-method.ts';

export interface UnlinkIdentityDeps {
  readonly identities: Pick<IdentityStore, 'remove' | 'has'>;
  readonly removeSignInMethod: RemoveSignInMethod;
  readonly now: () => Date;
}

/** Removes one of the caller's identities. Raises `ERR-IDENTITY-NOT-FOUND`, and the errors of {@link RemoveSignInMethod}. */
export function createUnlinkIdentity({ identities, removeSignInMethod, now }: UnlinkIdentityDeps) {
  return async (
    identity: string,
    input: UnlinkIdentityRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<IdentityUnlinkedResponse['data']> => {
    const identity_id = identity.toLowerCase();
    const find = (user: PresentUser): RemovedMethod => {
      const found = user.identities?.find(({ id }) => id === identity_id);
      if (found === undefined) throw new AppError('ERR-IDENTITY-NOT-FOUND');
      const unlinked = { user_id: user._id, identity_id, provider: found.provider };
      return {
        id: identity_id,
        signInMethods: identities,
        events: (locale, nextOrigin) => identityUnlinkedEvents({ ...unlinked, locale }, nextOrigin),
        audit: { event: 'identity.unlinked', session_id: caller.sid, ...unlinked },
      };
    };
    await removeSignInMethod({ input, purpose: 'identities', find }, caller, origin);
    return { message: 'IDENTITY_UNLINKED', identity_id, timestamp: now().toISOString() };
  };
}
