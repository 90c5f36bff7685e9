import { AppError } from '@auth-account/errors';
import { eventOrigin } from '@auth-account/messaging';
import { identityLinkedEvents } from '@auth-account/messaging/account-events';
import { isDuplicateKey, type PresentUser } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import type { IdentityDocument } from '@auth-account/stores/documents';
import type { IdentityStore } from '@auth-account/stores/identities';
import type { ClientSession } from 'mongodb';
import type { Outcome } from '../../announcements/commit.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';

export interface AddIdentityDeps {
  readonly identities: Pick<IdentityStore, 'add'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly ids: Pick<Ids, 'entityId'>;
}

/** A person at a provider, whose identity is to be linked. */
export type NewIdentity = Pick<IdentityDocument, 'provider' | 'sub' | 'email'>;

/** The identity to link, and the session that links it. */
export interface Linking {
  readonly identity: IdentityDocument;
  readonly sessionId: string;
}

/** Links an identity to the account, in a transaction. `seen` is the account as the transaction has left it. */
export type AddIdentity = (
  seen: PresentUser,
  linking: Linking,
  origin: RequestOrigin,
  session: ClientSession,
) => Promise<Pick<Outcome, 'events' | 'audit'>>;

/** Limit for the identities of an account. */
const mostIdentities = 10;

/**
 * Creates the write of a new identity. Like a new passkey it ends the account's open codes.
 *
 * Raises `ERR-IDENTITY-LIMIT-REACHED`, `ERR-IDENTITY-IN-USE` if another account has the identity, and `ERR-CODE-EXPIRED`
 * if a way in was changed since the account was read.
 */
export function createAddIdentity({ identities, challenges, ids }: AddIdentityDeps): AddIdentity {
  return async (seen, { identity, sessionId: session_id }, origin, session) => {
    assertRoomForIdentity(seen);
    const { id: identity_id, provider, created_at: at } = identity;
    const linked = { user_id: seen._id, identity_id, provider };
    const isAdded = await identities.add(seen, identity, at, session).catch((error: unknown) => {
      throw isDuplicateKey(error, 'identities.sub') ? new AppError('ERR-IDENTITY-IN-USE') : error;
    });
    if (!isAdded) throw new AppError('ERR-CODE-EXPIRED');
    await challenges.endAll(seen._id, at, session);
    const told = { ...linked, locale: mailLocale(seen, origin) };
    return {
      events: identityLinkedEvents(told, () => eventOrigin(origin, at, ids)),
      audit: [{ event: 'identity.linked', session_id, ...linked }],
    };
  };
}

/** Raises `ERR-IDENTITY-LIMIT-REACHED` if the account has as many identities as it may have. */
export function assertRoomForIdentity({ identities = [] }: PresentUser): void {
  if (identities.length < mostIdentities) return;
  throw new AppError('ERR-IDENTITY-LIMIT-REACHED', { details: { limit: mostIdentities } });
}
