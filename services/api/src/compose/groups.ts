import {
  collectionsOf,
  createGroupStore,
  createInviteStore,
  createSessionStore,
  createUserStore,
} from '@auth-account/stores';
import { systemIds as ids } from '../request/ids.ts';
import { createAcceptInvite } from '../usecases/accept-invite.ts';
import { createChangeGroup } from '../usecases/change-group.ts';
import { createFindCurrentGroup } from '../usecases/find-current-group.ts';
import { createLeaveGroup } from '../usecases/leave-group.ts';
import { createRemoveMember } from '../usecases/remove-member.ts';
import type { UseCaseParts } from './use-cases.ts';

type GroupParts = Pick<UseCaseParts, 'config' | 'mongo' | 'transaction' | 'announce' | 'limits' | 'audit' | 'now'>;

/** Gives the use cases of membership the few things that they name. */
export function composeGroups(parts: GroupParts) {
  const { config, mongo, transaction, announce, limits, audit } = parts;
  const now = () => new Date(parts.now());
  const collections = collectionsOf(mongo.db(config.MONGODB_DATABASE));
  const users = createUserStore(collections);
  const groups = createGroupStore(collections);
  const invites = createInviteStore(collections);
  const changeGroup = createChangeGroup({
    users,
    groups,
    invites,
    sessions: createSessionStore(collections),
    transaction,
    announce,
    audit,
  });
  const shared = { users, groups, changeGroup, limits, ids, now };
  const leaveGroup = createLeaveGroup(shared);
  return {
    findCurrentGroup: createFindCurrentGroup(shared),
    acceptInvite: createAcceptInvite({ ...shared, invites, maxGroupMembers: config.MAX_GROUP_MEMBERS }),
    leaveGroup,
    removeMember: createRemoveMember({ ...shared, leaveGroup }),
  };
}
