import type { DeletePasskeyRequest, PasskeyDeletedResponse } from '@auth-account/contracts/http/passkeys';
import { AppError } from '@auth-account/errors';
import { passkeyRemovedEvents } from '@auth-account/messaging/account-events';
import type { PresentUser } from '@auth-account/stores';
import type { PasskeyStore } from '@auth-account/stores/passkeys';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { PasskeyVerifier } from '../../security/passkeys/passkey-verifier.ts';
import type { RemovedMethod, RemoveSignInMethod } from '../credentials/remove-sign-in-method.ts';
import { signalOf } from './passkey-lists.ts';

export interface DeletePasskeyDeps {
  readonly passkeys: Pick<PasskeyStore, 'remove' | 'has'>;
  readonly removeSignInMethod: RemoveSignInMethod;
  readonly verifier: Pick<PasskeyVerifier, 'rpId'>;
  readonly now: () => Date;
}

/** Removes one of the caller's passkeys. Raises `ERR-PASSKEY-NOT-FOUND`, and the errors of {@link RemoveSignInMethod}. */
export function createDeletePasskey({ passkeys, removeSignInMethod, verifier, now }: DeletePasskeyDeps) {
  return async (
    passkey_id: string,
    input: DeletePasskeyRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<PasskeyDeletedResponse['data']> => {
    const find = (user: PresentUser): RemovedMethod => {
      if (!user.passkeys?.some(({ id }) => id === passkey_id)) throw new AppError('ERR-PASSKEY-NOT-FOUND');
      const removed = { user_id: user._id, passkey_id };
      return {
        id: passkey_id,
        signInMethods: passkeys,
        events: (locale, nextOrigin) => passkeyRemovedEvents({ ...removed, locale }, nextOrigin),
        audit: { event: 'passkey.removed', session_id: caller.sid, ...removed },
      };
    };
    const user = await removeSignInMethod({ input, purpose: 'passkeys', find }, caller, origin);
    const left = (user.passkeys ?? []).filter(({ id }) => id !== passkey_id);
    return { ...signalOf(verifier, user, left), timestamp: now().toISOString() };
  };
}
