import type { IdentityResponse, LinkIdentityRequest } from '@auth-account/contracts/http/federated';
import { AppError } from '@auth-account/errors';
import { eventOrigin } from '@auth-account/messaging';
import { identityLinkedEvents } from '@auth-account/messaging/account-events';
import { isDuplicateKey } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import type { IdentityDocument, UserDocument } from '@auth-account/stores/documents';
import type { IdentityStore } from '@auth-account/stores/identities';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import type { SpendProof } from '../login/spend-proof.ts';
import type { Reauthenticate } from '../step-up/reauthenticate.ts';
import { describeIdentity } from './identity-lists.ts';
import type { OpenProviderChallenge } from './provider-challenge.ts';

export interface LinkIdentityDeps {
  readonly identities: Pick<IdentityStore, 'findHolder' | 'add' | 'has'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly openProviderChallenge: OpenProviderChallenge;
  readonly spendProof: SpendProof;
  readonly reauthenticate: Reauthenticate;
  readonly limits: Pick<Limits, 'addIdentity'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/** Limit for the identities of an account. */
const mostIdentities = 10;

/**
 * Links an identity to the caller's account. Like a new passkey it ends the account's open codes. A repeat gets the same
 * identity.
 *
 * Raises the errors of {@link OpenProviderChallenge} and {@link Reauthenticate}, `ERR-IDENTITY-IN-USE` if another
 * account has the identity, `ERR-IDENTITY-LIMIT-REACHED`, `ERR-RATE-LIMITED`, and `ERR-CODE-EXPIRED` if the challenge was
 * used or a way in was changed since.
 */
export function createLinkIdentity(deps: LinkIdentityDeps) {
  const { identities, openProviderChallenge, reauthenticate, limits, ids, now } = deps;
  const add = createAdd(deps);

  return async (
    provider: string,
    input: LinkIdentityRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<IdentityResponse['data']> => {
    const challenge = await openProviderChallenge({ provider, ...input });
    const { sub, email } = await challenge.verify();
    const holder = await identities.findHolder({ provider, sub });
    const own =
      holder?._id === caller.user_id &&
      holder.identities?.find((each) => each.sub === sub && each.provider === provider);
    const at = now();
    if (own) return { ...describeIdentity(own), timestamp: at.toISOString() };
    if (holder !== undefined) throw new AppError('ERR-IDENTITY-IN-USE');
    const user = await reauthenticate(input, caller, origin, 'identities');
    if ((user.identities ?? []).length >= mostIdentities) {
      throw new AppError('ERR-IDENTITY-LIMIT-REACHED', { details: { limit: mostIdentities } });
    }
    await limits.addIdentity(user._id, origin);
    const identity = { id: ids.entityId(), provider, sub, ...(email && { email }), created_at: at };
    const spend = { id: challenge.id, until: challenge.until, proof: ['link', identity.id] };
    await add(user, { identity, spend }, { sessionId: caller.sid, origin });
    return { ...describeIdentity(identity), timestamp: now().toISOString() };
  };
}

interface Added {
  readonly identity: IdentityDocument;
  readonly spend: Parameters<SpendProof>[0];
}

/** Creates the write of a new identity. */
function createAdd({ identities, challenges, spendProof, commit, ids }: LinkIdentityDeps) {
  return async (
    user: UserDocument,
    { identity, spend }: Added,
    { sessionId: session_id, origin }: { readonly sessionId: string; readonly origin: RequestOrigin },
  ): Promise<void> => {
    const { id: identity_id, provider, created_at: at } = identity;
    const linked = { user_id: user._id, identity_id, provider };
    const told = { ...linked, locale: mailLocale(user, origin) };
    const events = identityLinkedEvents(told, () => eventOrigin(origin, at, ids));
    await commit(
      {
        at,
        isCommitted: () => identities.has(user._id, identity_id),
        ifClientLeft: 'commit',
        async work(session) {
          await spendProof(spend, { sessionId: session_id, at }, session);
          if (!(await identities.add(user, identity, at, session))) throw new AppError('ERR-CODE-EXPIRED');
          await challenges.endAll(user._id, at, session);
          return { events, audit: [{ event: 'identity.linked', session_id, ...linked }], sessions: none };
        },
      },
      origin,
    ).catch((error: unknown) => {
      throw isDuplicateKey(error, 'identities.sub') ? new AppError('ERR-IDENTITY-IN-USE') : error;
    });
  };
}
