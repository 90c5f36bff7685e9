import type { PasskeyListResponse, PasskeyResponse, RenamePasskeyRequest } from '@auth-account/contracts/http/passkeys';
import { AppError } from '@auth-account/errors';
import type { PresentUser, UserStore } from '@auth-account/stores';
import { describePasskey } from '@auth-account/stores/account-export';
import type { PasskeyDocument } from '@auth-account/stores/documents';
import type { PasskeyStore } from '@auth-account/stores/passkeys';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Commit, none } from '../../announcements/commit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { PasskeyVerifier } from '../../security/passkeys/passkey-verifier.ts';
import { userHandleOf } from '../proofs/passkey-proof.ts';

export interface PasskeyListDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly passkeys: Pick<PasskeyStore, 'rename'>;
  readonly verifier: Pick<PasskeyVerifier, 'rpId'>;
  readonly commit: Commit;
  readonly now: () => Date;
}

/** Lists the caller's passkeys. Raises `IAD_JWT_ACCESS_INVALID` if the account is gone. */
export function createListPasskeys({ users, verifier, now }: PasskeyListDeps) {
  return async ({ user_id }: VerifiedAccessToken): Promise<PasskeyListResponse['data']> => {
    const user = await users.find(user_id);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const { passkeys = [] } = user;
    return {
      passkeys: passkeys.map(describePasskey),
      ...signalOf(verifier, user, passkeys),
      timestamp: now().toISOString(),
    };
  };
}

/** Names one of the caller's passkeys. Raises `ERR-PASSKEY-NOT-FOUND`. */
export function createRenamePasskey({ passkeys, commit, now }: PasskeyListDeps) {
  return async (
    passkeyId: string,
    { name }: RenamePasskeyRequest,
    { user_id, sid: session_id }: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<PasskeyResponse['data']> => {
    const at = now();
    const { renamed } = await commit(
      {
        at,
        isCommitted: 'by event',
        ifClientLeft: 'commit',
        async work(session) {
          const passkey = await passkeys.rename(user_id, passkeyId, name, session);
          if (passkey === undefined) throw new AppError('ERR-PASSKEY-NOT-FOUND');
          const audit = { event: 'passkey.renamed', user_id, session_id, passkey_id: passkeyId } as const;
          return { renamed: passkey, events: none, audit: [audit], sessions: none };
        },
      },
      origin,
    );
    return { ...describePasskey(renamed), timestamp: at.toISOString() };
  };
}

/** Returns the data by which an authenticator drops all other passkeys of the account. */
export function signalOf({ rpId }: Pick<PasskeyVerifier, 'rpId'>, user: PresentUser, left: readonly PasskeyDocument[]) {
  return {
    rp_id: rpId,
    user_handle: userHandleOf(user) ?? null,
    accepted_credential_ids: left.map(({ credential_id }) => credential_id),
  };
}
