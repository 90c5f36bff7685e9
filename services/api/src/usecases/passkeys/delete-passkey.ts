import type { DeletePasskeyRequest, PasskeyDeletedResponse } from '@auth-account/contracts/http/passkeys';
import { AppError } from '@auth-account/errors';
import { eventOrigin } from '@auth-account/messaging';
import { passkeyRemovedEvents } from '@auth-account/messaging/account-events';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import { hasWayInBesides } from '@auth-account/stores/credentials';
import type { PasskeyDocument, UserDocument } from '@auth-account/stores/documents';
import type { PasskeyStore } from '@auth-account/stores/passkeys';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import { ChangedMeanwhile } from '../codes/change-by-code.ts';
import type { DecideAnew } from '../credentials/decide-anew.ts';
import type { Reauthenticate } from '../step-up/reauthenticate.ts';
import { signalOf } from './passkey-lists.ts';

export interface DeletePasskeyDeps {
  readonly passkeys: Pick<PasskeyStore, 'remove' | 'has'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly reauthenticate: Reauthenticate;
  readonly decideAnew: DecideAnew;
  readonly limits: Pick<Limits, 'write'>;
  readonly commit: Commit;
  readonly rpId: string;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/**
 * Removes one of the caller's passkeys, if another way in is left. It ends the account's open codes, like a new passkey.
 *
 * Raises the errors of {@link Reauthenticate} and {@link DecideAnew}, `ERR-PASSKEY-NOT-FOUND`, `ERR-LAST-CREDENTIAL` and
 * `ERR-RATE-LIMITED`.
 */
export function createDeletePasskey(deps: DeletePasskeyDeps) {
  const { reauthenticate, decideAnew, limits, rpId, now } = deps;
  const remove = createRemove(deps);

  return async (
    passkeyId: string,
    input: DeletePasskeyRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<PasskeyDeletedResponse['data']> => {
    const proved = await reauthenticate(input, caller, origin, 'passkeys');
    await limits.write(caller.sid, origin);
    const user = await decideAnew(proved, async (seen) => {
      leftWithout(seen, passkeyId);
      return remove(seen, passkeyId, { sessionId: caller.sid, origin });
    });
    return { ...signalOf(rpId, user, leftWithout(user, passkeyId)), timestamp: now().toISOString() };
  };
}

/** Returns the passkeys that are left. Raises an error if there is no such passkey, or if it is the last way in. */
function leftWithout(user: UserDocument, passkeyId: string): PasskeyDocument[] {
  const { passkeys = [] } = user;
  const left = passkeys.filter(({ id }) => id !== passkeyId);
  if (left.length === passkeys.length) throw new AppError('ERR-PASSKEY-NOT-FOUND');
  if (!hasWayInBesides(user, passkeyId)) throw new AppError('ERR-LAST-CREDENTIAL');
  return left;
}

/** Creates the write of a removal. It throws {@link ChangedMeanwhile} if the account was changed since it was read. */
function createRemove({ passkeys, challenges, commit, ids, now }: DeletePasskeyDeps) {
  return async (
    user: UserDocument,
    passkey_id: string,
    { sessionId: session_id, origin }: { readonly sessionId: string; readonly origin: RequestOrigin },
  ): Promise<void> => {
    const at = now();
    const ofPasskey = { user_id: user._id, passkey_id };
    const events = passkeyRemovedEvents({ ...ofPasskey, locale: mailLocale(user, origin) }, () =>
      eventOrigin(origin, at, ids),
    );
    const change: Parameters<Commit>[0] = {
      at,
      isCommitted: async () => !(await passkeys.has(user._id, passkey_id)),
      ifClientLeft: 'commit',
      async work(session) {
        if (!(await passkeys.remove(user, passkey_id, at, session))) throw new ChangedMeanwhile();
        await challenges.endAll(user._id, at, session);
        return { events, audit: [{ event: 'passkey.removed', session_id, ...ofPasskey }], sessions: none };
      },
    };
    await commit(change, origin);
  };
}
