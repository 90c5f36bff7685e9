import type { CurrentGroupResponse, RenameGroupRequest } from '@auth-account/contracts/http/groups';
import type { GroupStore, UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Audit } from '../../audit/audit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { FindCurrentGroup } from './find-current-group.ts';
import { nonOwnerError } from './non-owner-error.ts';

export interface RenameGroupDeps {
  readonly users: Pick<UserStore, 'isMember'>;
  readonly groups: Pick<GroupStore, 'rename'>;
  readonly findCurrentGroup: FindCurrentGroup;
  readonly audit: Audit;
}

/** Names the group that the caller owns. Raises the errors of {@link nonOwnerError}. */
export function createRenameGroup({ users, groups, findCurrentGroup, audit }: RenameGroupDeps) {
  return async (
    { name }: RenameGroupRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<CurrentGroupResponse['data']> => {
    const { user_id, home_group_id, sid: session_id } = caller;
    if (!(await groups.rename(home_group_id, user_id, name))) throw await nonOwnerError(users, caller);
    audit({ event: 'group.renamed', user_id, session_id, home_group_id }, origin);
    return findCurrentGroup(caller);
  };
}
