import type { Body, Data } from '../calls/call.ts';
import { type ClientGroup, type ClientGroupDeps, sessionOf } from '../calls/client-group.ts';
import { householdOperations } from '../generated/operations.ts';
import { isLost } from '../http/auth-error.ts';
import type { Keeper } from '../session/keeper.ts';

export type Household = ReturnType<typeof create>;

/** The group of an account, and its invites. Each operation raises `AuthError` with the codes of docs/api.md. */
export const household: ClientGroup<Household> = { operations: householdOperations, create };

function create(deps: ClientGroupDeps) {
  return { group: groupOf(deps), invites: invitesOf(deps) };
}

/** Gets the claims of the new group; if there is no answer, the next call that is refused gets them. */
async function renewClaims(keeper: Keeper): Promise<void> {
  const { token } = await keeper.access();
  await keeper.renew(token).catch(() => undefined);
}

function groupOf({ call, keeper, platform }: ClientGroupDeps) {
  return {
    find: (): Promise<Data<'findCurrentGroup'>> => call('findCurrentGroup'),
    /** Null removes the name. */
    rename: (name: string | null): Promise<Data<'renameGroup'>> => call('renameGroup', { body: { name } }),
    handOver: (user_id: string): Promise<Data<'handOverGroup'>> => call('handOverGroup', { body: { user_id } }),
    /** Leaves the group for a new household. */
    async leave(): Promise<Data<'leaveGroup'>> {
      const before = (await keeper.load()).session?.home_group_id;
      const hasMoved = () => sessionOf(keeper)?.home_group_id !== before;
      try {
        const data = await call('leaveGroup', { isWanted: () => !hasMoved() });
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
    removeMember: (user_id: string): Promise<Data<'removeMember'>> => call('removeMember', { params: { user_id } }),
  };
}

function invitesOf({ call, keeper, platform }: ClientGroupDeps) {
  return {
    async create(input: Body<'createInvite'> = {}): Promise<Data<'createInvite'>> {
      const outgoing = { body: input, idempotencyKey: platform.randomUUID() };
      return call('createInvite', outgoing).catch((error) => {
        // With the same key it is the same invite.
        if (isLost(error)) return call('createInvite', outgoing);
        throw error;
      });
    },
    list: (): Promise<Data<'listInvites'>> => call('listInvites'),
    /** Finds out where the invite leads; nobody needs to be signed in. */
    find: (token: string): Promise<Data<'findInvite'>> => call('findInvite', { params: { token } }),
    revoke: (token: string): Promise<Data<'revokeInvite'>> => call('revokeInvite', { params: { token } }),
    /** Moves into the group of the invite. */
    async accept(token: string, input: Body<'acceptInvite'> = {}): Promise<Data<'acceptInvite'>> {
      const data = await call('acceptInvite', { params: { token }, body: input });
      await renewClaims(keeper);
      return data;
    },
  };
}
