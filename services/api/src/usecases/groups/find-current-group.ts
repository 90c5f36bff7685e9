import type { AccountType } from '@auth-account/contracts';
import type { CurrentGroupResponse, StockDeficit } from '@auth-account/contracts/http/groups';
import { AppError } from '@auth-account/errors';
import type { GroupStore, UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';

export interface FindCurrentGroupDeps {
  readonly users: Pick<UserStore, 'listGroup'>;
  readonly groups: Pick<GroupStore, 'find'>;
  readonly now: () => Date;
}

export type FindCurrentGroup = (caller: VerifiedAccessToken) => Promise<CurrentGroupResponse['data']>;

/** Treatment of a write-off that the stock does not cover (docs/specification/groups-and-invites.md, "Groups"). */
const stockDeficits = { HOME: 'masked', OFFICE: 'refused' } as const satisfies Record<AccountType, StockDeficit>;

/**
 * Returns the caller's group with its members, longest-standing first.
 *
 * Raises `IAD_JWT_ACCESS_INVALID` as soon as the caller is no longer a member, so that the app refreshes.
 */
export function createFindCurrentGroup({ users, groups, now }: FindCurrentGroupDeps): FindCurrentGroup {
  return async (caller) => {
    const { user_id, home_group_id } = caller;
    const [group, members] = await Promise.all([groups.find(home_group_id), users.listGroup(home_group_id)]);
    const own = members.find(({ _id }) => _id === user_id);
    if (group === undefined || own === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const { account_type, created_at } = group;
    return {
      home_group_id,
      name: group.name ?? null,
      account_type,
      stock_deficit: stockDeficits[account_type],
      role: own.role,
      created_at: created_at.toISOString(),
      members: members.map(({ _id, email, display_name, role, joined_at }) => ({
        user_id: _id,
        email,
        display_name: display_name ?? null,
        role,
        joined_at: joined_at.toISOString(),
      })),
      timestamp: now().toISOString(),
    };
  };
}
