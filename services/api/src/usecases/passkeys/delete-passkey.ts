import type { DeletePasskeyRequest, PasskeyDeletedResponse } from '@auth-account/contracts/http/passkeys';
import { AppError } from '@auth-account/errors';
import { passkeyRemovedEvents } from '@auth-account/messaging/account-events';
import type { PresentUser } from '@auth-account/stores';
import type { PasskeyStore } from '@auth-account/stores/passkeys';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { PasskeyVerifier } from '../../security/passkeys/passkey-verifier.ts';
import type { RemovedWay, RemoveWay } from '../credentials/remove-way.ts';
import { signalOf } from './passkey-lists.ts';

export interface DeletePasskeyDeps {
  readonly passkeys: Pick<PasskeyStore, 'remove' | 'has'>;
  readonly removeWay: RemoveWay;
  readonly verifier: Pick<PasskeyVerifier, 'rpId'>;
  readonly now: () => Date;
}

/** Removes one of the caller's passkeys. Raises `ERR-PASSKEY-NOT-FOUND`, and the errors of {@link RemoveWay}. */
export function createDeletePasskey({ passkeys, removeWay, verifier, now }: DeletePasskeyDeps) {
  return async (
    passkey_id: string,
    input: DeletePasskeyRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<PasskeyDeletedResponse['data']> => {
    const find = (user: PresentUser): RemovedWay => {
      if (!user.passkeys?.some(({ id }) => id === passkey_id)) throw new AppError('ERR-PASSKEY-NOT-FOUND');
      const removed = { user_id: user._id, passkey_id };
      return {
        id: passkey_id,
        ways: passkeys,
        events: (locale, nextOrigin) => passkeyRemovedEvents({ ...removed, locale }, nextOrigin),
        audit: { event: 'passkey.removed', session_id: caller.sid, ...removed },
      };
    };
    const user = await removeWay({ input, purpose: 'passkeys', find }, caller, origin);
    const left = (user.passkeys ?? []).filter(({ id }) => id !== passkey_id);
    return { ...signalOf(verifier, user, left), timestamp: now().toISOString() };
  };
}
