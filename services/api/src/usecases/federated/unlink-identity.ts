import type { IdentityUnlinkedResponse, UnlinkIdentityRequest } from '@auth-account/contracts/http/federated';
import { AppError } from '@auth-account/errors';
import { eventOrigin } from '@auth-account/messaging';
import { identityUnlinkedEvents } from '@auth-account/messaging/account-events';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import { hasWayInBesides } from '@auth-account/stores/credentials';
import type { IdentityDocument, UserDocument } from '@auth-account/stores/documents';
import type { IdentityStore } from '@auth-account/stores/identities';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import { ChangedMeanwhile } from '../codes/change-by-code.ts';
import type { DecideAnew } from '../credentials/decide-anew.ts';
import type { Reauthenticate } from '../step-up/reauthenticate.ts';

export interface UnlinkIdentityDeps {
  readonly identities: Pick<IdentityStore, 'remove' | 'has'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly reauthenticate: Reauthenticate;
  readonly decideAnew: DecideAnew;
  readonly limits: Pick<Limits, 'write'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/**
 * Removes one of the caller's identities, if another way in is left. It ends the account's open codes, like a new
 * identity.
 *
 * Raises the errors of {@link Reauthenticate} and {@link DecideAnew}, `ERR-IDENTITY-NOT-FOUND`, `ERR-LAST-CREDENTIAL` and
 * `ERR-RATE-LIMITED`.
 */
export function createUnlinkIdentity(deps: UnlinkIdentityDeps) {
  const { reauthenticate, decideAnew, limits, now } = deps;
  const remove = createRemove(deps);

  return async (
    identity: string,
    input: UnlinkIdentityRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<IdentityUnlinkedResponse['data']> => {
    const proved = await reauthenticate(input, caller, origin, 'identities');
    await limits.write(caller.sid, origin);
    const identity_id = identity.toLowerCase();
    await decideAnew(proved, async (user) => {
      const found = user.identities?.find(({ id }) => id === identity_id);
      if (found === undefined) throw new AppError('ERR-IDENTITY-NOT-FOUND');
      if (!hasWayInBesides(user, identity_id)) throw new AppError('ERR-LAST-CREDENTIAL');
      return remove(user, found, { sessionId: caller.sid, origin });
    });
    return { message: 'IDENTITY_UNLINKED', identity_id, timestamp: now().toISOString() };
  };
}

/** Creates the write of a removal. It throws {@link ChangedMeanwhile} if the account was changed since it was read. */
function createRemove({ identities, challenges, commit, ids, now }: UnlinkIdentityDeps) {
  return async (
    user: UserDocument,
    { id: identity_id, provider }: IdentityDocument,
    { sessionId: session_id, origin }: { readonly sessionId: string; readonly origin: RequestOrigin },
  ): Promise<void> => {
    const at = now();
    const unlinked = { user_id: user._id, identity_id, provider };
    const told = { ...unlinked, locale: mailLocale(user, origin) };
    const events = identityUnlinkedEvents(told, () => eventOrigin(origin, at, ids));
    const change: Parameters<Commit>[0] = {
      at,
      isCommitted: async () => !(await identities.has(user._id, identity_id)),
      ifClientLeft: 'commit',
      async work(session) {
        if (!(await identities.remove(user, identity_id, at, session))) throw new ChangedMeanwhile();
        await challenges.endAll(user._id, at, session);
        return { events, audit: [{ event: 'identity.unlinked', session_id, ...unlinked }], sessions: none };
      },
    };
    await commit(change, origin);
  };
}
