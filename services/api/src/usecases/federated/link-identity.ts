import type { IdentityResponse, LinkIdentityRequest } from '@auth-account/contracts/http/federated';
import { AppError, isAppError } from '@auth-account/errors';
import { eventOrigin } from '@auth-account/messaging';
import { identityLinkedEvents } from '@auth-account/messaging/account-events';
import { isDuplicateKey, type PresentUser } from '@auth-account/stores';
import { describeIdentity } from '@auth-account/stores/account-export';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import type { IdentityStore } from '@auth-account/stores/identities';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import type { AddIdentity } from '../login/proved-login.ts';
import type { ConsumeProof } from '../proofs/consume-proof.ts';
import type { Reauthenticate } from '../step-up/reauthenticate.ts';
import type { KeepProviderToken } from './keep-provider-token.ts';
import type { OpenProviderChallenge } from './provider-challenge.ts';

export interface LinkIdentityDeps {
  readonly identities: Pick<IdentityStore, 'findHolder' | 'has'>;
  readonly openProviderChallenge: OpenProviderChallenge;
  readonly keepProviderToken: KeepProviderToken;
  readonly consumeProof: ConsumeProof;
  readonly addIdentity: AddIdentity;
  readonly reauthenticate: Reauthenticate;
  readonly limits: Pick<Limits, 'addIdentity'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/**
 * Links an identity to the caller's account. A repeat gets the same identity.
 *
 * Raises the errors of {@link OpenProviderChallenge}, {@link Reauthenticate} and {@link AddIdentity}, `ERR-RATE-LIMITED`,
 * and `ERR-CODE-EXPIRED` if the challenge was used.
 */
export function createLinkIdentity(deps: LinkIdentityDeps) {
  const { identities, openProviderChallenge, keepProviderToken, consumeProof, addIdentity } = deps;
  const { reauthenticate, limits, commit, ids, now } = deps;

  return async (
    provider: string,
    input: LinkIdentityRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<IdentityResponse['data']> => {
    const challenge = await openProviderChallenge({ provider, ...input });
    const { sub, email, clientId } = await challenge.verify().catch(refuseToken);
    const holder = await identities.findHolder({ provider, sub });
    const own =
      holder?._id === caller.user_id &&
      holder.identities?.find((each) => each.sub === sub && each.provider === provider);
    const at = now();
    if (own) return { ...describeIdentity(own), timestamp: at.toISOString() };
    if (holder !== undefined) throw new AppError('ERR-IDENTITY-IN-USE');
    const user = await reauthenticate(input, caller, origin, 'identities');
    assertCapacityForIdentity(user);
    await limits.addIdentity(user, origin);
    const identity = { id: ids.entityId(), provider, sub, ...(email && { email }), created_at: at };
    const challengeUse = { id: challenge.id, until: challenge.until, proof: ['link', identity.id] };
    const change: Parameters<Commit>[0] = {
      at,
      isCommitted: () => identities.has(user._id, identity.id),
      ifClientLeft: 'commit',
      async work(session) {
        await consumeProof(challengeUse, { sessionId: caller.sid, at }, session);
        return { ...(await addIdentity(user, { identity, sessionId: caller.sid }, origin, session)), sessions: none };
      },
    };
    await commit(change, origin);
    await keepProviderToken({ code: input.authorization_code, clientId, userId: user._id, identity }, origin);
    return { ...describeIdentity(identity), timestamp: now().toISOString() };
  };
}

/** A 401 would make the app refresh its tokens, which does not help. */
function refuseToken(error: unknown): never {
  const isWrong = isAppError(error) && error.code === 'ERR-IDENTITY-TOKEN-INVALID';
  throw isWrong ? new AppError('ERR-IDENTITY-TOKEN-INVALID', { status: 422, cause: error }) : error;
}

export interface AddIdentityDeps {
  readonly identities: Pick<IdentityStore, 'add'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly ids: Pick<Ids, 'entityId'>;
}

/** Limit for the identities of an account. */
const maxIdentities = 10;

/**
 * Writes a new identity. Like a new passkey it ends the account's open codes.
 *
 * Raises `ERR-IDENTITY-LIMIT-REACHED`, `ERR-IDENTITY-IN-USE` if another account has the identity, and
 * `ERR-CODE-EXPIRED` if a sign-in method was changed since the account was read.
 */
export function createAddIdentity({ identities, challenges, ids }: AddIdentityDeps): AddIdentity {
  return async (seen, { identity, sessionId: session_id }, origin, session) => {
    assertCapacityForIdentity(seen);
    const { id: identity_id, provider, created_at: at } = identity;
    const linked = { user_id: seen._id, identity_id, provider };
    const isAdded = await identities.add(seen, identity, at, session).catch((error: unknown) => {
      throw isDuplicateKey(error, 'identities.sub') ? new AppError('ERR-IDENTITY-IN-USE') : error;
    });
    if (!isAdded) throw new AppError('ERR-CODE-EXPIRED');
    await challenges.endAll(seen._id, at, session);
    const notified = { ...linked, locale: mailLocale(seen, origin) };
    return {
      events: identityLinkedEvents(notified, () => eventOrigin(origin, at, ids)),
      audit: [{ event: 'identity.linked', session_id, ...linked }],
    };
  };
}

/** Raises `ERR-IDENTITY-LIMIT-REACHED` if the account has as many identities as it may have. */
function assertCapacityForIdentity({ identities = [] }: PresentUser): void {
  if (identities.length < maxIdentities) return;
  throw new AppError('ERR-IDENTITY-LIMIT-REACHED', { details: { limit: maxIdentities } });
}
