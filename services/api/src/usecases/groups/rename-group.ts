import type { CurrentGroupResponse, RenameGroupRequest } from '@auth-account/contracts/http/groups';
import type { GroupStore, UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Commit, none } from '../../announcements/commit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { FindCurrentGroup } from './find-current-group.ts';
import { nonOwnerError } from './non-owner-error.ts';

export interface RenameGroupDeps {
  readonly users: Pick<UserStore, 'isMember'>;
  readonly groups: Pick<GroupStore, 'rename'>;
  readonly findCurrentGroup: FindCurrentGroup;
  readonly commit: Commit;
  readonly now: () => Date;
}

/** Names the group that the caller owns. Raises the errors of {@link nonOwnerError}. */
export function createRenameGroup({ users, groups, findCurrentGroup, commit, now }: RenameGroupDeps) {
  return async (
    { name }: RenameGroupRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<CurrentGroupResponse['data']> => {
    const { user_id, home_group_id, sid: session_id } = caller;
    await commit(
      {
        at: now(),
        lockKey: home_group_id,
        isCommitted: 'by event',
        ifClientLeft: 'commit',
        async work(session) {
          const isRenamed = await groups.rename(home_group_id, user_id, name, session);
          if (!isRenamed) throw await nonOwnerError(users, caller);
          const audit = { event: 'group.renamed', user_id, session_id, home_group_id } as const;
          return { events: none, audit: [audit], sessions: none };
        },
      },
      origin,
    );
    return findCurrentGroup(caller);
  };
}
