import type { MembershipResponse } from '@auth-account/contracts/http/groups';
import { AppError } from '@auth-account/errors';
import type { GroupStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { type ChangeGroup, newHome } from './change-group.ts';

export interface LeaveGroupDeps {
  readonly groups: Pick<GroupStore, 'insert'>;
  readonly changeGroup: ChangeGroup;
  readonly limits: Pick<Limits, 'move'>;
  readonly ids: Pick<Ids, 'groupId'>;
  readonly now: () => Date;
}

export type LeaveGroup = (caller: VerifiedAccessToken, origin: RequestOrigin) => Promise<MembershipResponse['data']>;

/**
 * Moves the caller from any group into a new HOME space of their own. If the last member leaves, the group closes.
 *
 * Raises `ERR-RATE-LIMITED`, and `IAD_JWT_ACCESS_INVALID` if another change of group came first, so that the app
 * refreshes.
 */
export function createLeaveGroup(deps: LeaveGroupDeps): LeaveGroup {
  const { changeGroup, limits, now } = deps;

  return async ({ user_id: userId, sid: session_id, home_group_id: from }, origin) => {
    await limits.move(userId, origin);
    const at = now();
    const home = newHome(deps, userId, at);
    const notThere = () => new AppError('IAD_JWT_ACCESS_INVALID');
    const audit = [{ event: 'group.left', user_id: userId, session_id, home_group_id: from }] as const;
    await changeGroup({ userId, from, ...home, notThere, audit }, origin);
    const { home_group_id, account_type, role } = home.to;
    return { home_group_id, account_type, role, timestamp: now().toISOString() };
  };
}
