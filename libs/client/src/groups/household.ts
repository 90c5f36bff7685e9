import { type ClientGroup, type ClientGroupDeps, methodsOf, renewClaims, sessionOf } from '../calls/client-group.ts';
import { type GroupMethods, groupMethods, type InvitesMethods, invitesMethods } from '../generated/methods.ts';
import { leaveGroup } from '../generated/operations.ts';

export interface Household {
  readonly group: GroupMethods;
  readonly invites: InvitesMethods;
}

/** Operations on the account's group and on its invites. */
export const household: ClientGroup<Household> = (deps) => ({ group: groupOf(deps), invites: invitesOf(deps) });

function groupOf({ call, sessionManager, platform }: ClientGroupDeps): GroupMethods {
  return {
    ...methodsOf(groupMethods, call),
    async leave() {
      const before = (await sessionManager.load()).session?.home_group_id;
      const hasMoved = () => sessionOf(sessionManager)?.home_group_id !== before;
      try {
        const data = await call(leaveGroup, { isWanted: () => !hasMoved() });
        await renewClaims(sessionManager);
        return data;
      } catch (error) {
        const { home_group_id, account_type } = sessionOf(sessionManager) ?? {};
        // If the group has changed, an earlier try succeeded but its answer was lost. Repeating the call would leave
        // the new household too.
        if (before === undefined || home_group_id === undefined || account_type === undefined || !hasMoved())
          throw error;
        return { home_group_id, account_type, role: 'owner', timestamp: new Date(platform.now()).toISOString() };
      }
    },
  };
}

function invitesOf({ call, sessionManager }: ClientGroupDeps): InvitesMethods {
  const plain = methodsOf(invitesMethods, call);
  return {
    ...plain,
    async accept(token, body) {
      const data = await plain.accept(token, body);
      await renewClaims(sessionManager);
      return data;
    },
  };
}
