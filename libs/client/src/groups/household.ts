import { type ClientGroup, type ClientGroupDeps, methodsOf, sessionOf } from '../calls/client-group.ts';
import { type GroupMethods, groupMethods, type InvitesMethods, invitesMethods } from '../generated/methods.ts';
import { leaveGroup } from '../generated/operations.ts';
import type { Keeper } from '../session/keeper.ts';

export interface Household {
  readonly group: GroupMethods;
  readonly invites: InvitesMethods;
}

/** The group of an account, and its invites. */
export const household: ClientGroup<Household> = (deps) => ({ group: groupOf(deps), invites: invitesOf(deps) });

/** Gets the claims of the new group; if there is no answer, the next call that is refused gets them. */
async function renewClaims(keeper: Keeper): Promise<void> {
  const { token } = await keeper.access();
  await keeper.renew(token).catch(() => undefined);
}

function groupOf({ call, keeper, platform }: ClientGroupDeps): GroupMethods {
  return {
    ...methodsOf(groupMethods, call),
    async leave() {
      const before = (await keeper.load()).session?.home_group_id;
      const hasMoved = () => sessionOf(keeper)?.home_group_id !== before;
      try {
        const data = await call(leaveGroup, { isWanted: () => !hasMoved() });
        await renewClaims(keeper);
        return data;
      } catch (error) {
        const { home_group_id, account_type } = sessionOf(keeper) ?? {};
        // The answer of an earlier try was lost: a repeated one would leave the new household too.
        if (before === undefined || home_group_id === undefined || account_type === undefined || !hasMoved())
          throw error;
        return { home_group_id, account_type, role: 'owner', timestamp: new Date(platform.now()).toISOString() };
      }
    },
  };
}

function invitesOf({ call, keeper }: ClientGroupDeps): InvitesMethods {
  const plain = methodsOf(invitesMethods, call);
  return {
    ...plain,
    async accept(token, body) {
      const data = await plain.accept(token, body);
      await renewClaims(keeper);
      return data;
    },
  };
}
