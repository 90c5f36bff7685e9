import {
  collectionsOf,
  createGroupStore,
  createIdempotencyStore,
  createInviteStore,
  createUserStore,
} from '@auth-account/stores';
import { createOpenIdempotent } from '../idempotency/open-idempotent.ts';
import { systemIds as ids } from '../request/ids.ts';
import { createCreateInvite } from '../usecases/create-invite.ts';
import { createFindInvite } from '../usecases/find-invite.ts';
import { createListInvites } from '../usecases/list-invites.ts';
import { createRevokeInvite } from '../usecases/revoke-invite.ts';
import type { UseCaseParts } from './use-cases.ts';

type InviteParts = Pick<UseCaseParts, 'config' | 'mongo' | 'transaction' | 'security' | 'limits' | 'audit' | 'now'>;

/** Gives the use cases of invites the few things that they name. */
export function composeInvites(parts: InviteParts) {
  const { config, mongo, transaction, security, limits, audit } = parts;
  const now = () => new Date(parts.now());
  const collections = collectionsOf(mongo.db(config.MONGODB_DATABASE));
  const shared = {
    users: createUserStore(collections),
    groups: createGroupStore(collections),
    invites: createInviteStore(collections),
    audit,
    now,
  };
  const openIdempotent = createOpenIdempotent({
    store: createIdempotencyStore(collections),
    secrets: security.serverSecrets,
    now,
  });
  return {
    createInvite: createCreateInvite({ ...shared, transaction, openIdempotent, limits, ids }),
    listInvites: createListInvites(shared),
    findInvite: createFindInvite({ ...shared, maxGroupMembers: config.MAX_GROUP_MEMBERS, limits }),
    revokeInvite: createRevokeInvite(shared),
  };
}
