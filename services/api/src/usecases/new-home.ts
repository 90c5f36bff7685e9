import type { GroupStore } from '@auth-account/stores';
import type { Ids } from '../request/ids.ts';
import type { GroupChange } from './change-group.ts';

/** A household of the user's own, to be opened by a change of group: where whoever leaves a group lives from then on. */
export function newHome(
  { groups, ids }: { readonly groups: Pick<GroupStore, 'insert'>; readonly ids: Pick<Ids, 'groupId'> },
  userId: string,
  at: Date,
): Pick<GroupChange, 'to' | 'enter'> {
  const home_group_id = ids.groupId();
  const account_type = 'HOME';
  return {
    to: { home_group_id, account_type, role: 'owner', joined_at: at },
    enter: (session) =>
      groups.insert(
        { _id: home_group_id, account_type, owner_id: userId, member_count: 1, created_at: at, closed_at: null },
        session,
      ),
  };
}
