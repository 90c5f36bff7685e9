import type { GroupHandedOverResponse, HandOverGroupRequest } from '@auth-account/contracts/http/groups';
import { AppError } from '@auth-account/errors';
import type { GroupStore, UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Commit, none } from '../../announcements/commit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { nonOwnerError } from './non-owner-error.ts';

export interface HandOverGroupDeps {
  readonly users: Pick<UserStore, 'isMember' | 'setRole'>;
  readonly groups: Pick<GroupStore, 'handOver' | 'hasOwner'>;
  readonly commit: Commit;
  readonly now: () => Date;
}

/**
 * Makes another member the owner of the caller's group, and the caller a member. Like every join and leave, its
 * transaction writes the group and the users, so that the new owner cannot leave at the same time. Tokens do not
 * contain the role, so no session changes. If the id is the caller's own, nothing happens.
 *
 * Raises the errors of {@link nonOwnerError}, and `ERR-GROUP-MEMBER-NOT-FOUND`.
 */
export function createHandOverGroup({ users, groups, commit, now }: HandOverGroupDeps) {
  return async (
    input: HandOverGroupRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<GroupHandedOverResponse['data']> => {
    const { user_id: from, home_group_id, sid: session_id } = caller;
    const to = input.user_id.toLowerCase();
    await commit(
      {
        at: now(),
        lockKey: home_group_id,
        isCommitted: () => groups.hasOwner(home_group_id, to),
        ifClientLeft: 'commit',
        async work(session) {
          if (!(await groups.handOver(home_group_id, from, to, session))) throw await nonOwnerError(users, caller);
          await users.setRole(from, home_group_id, 'member', session);
          const isMember = await users.setRole(to, home_group_id, 'owner', session);
          if (!isMember) throw new AppError('ERR-GROUP-MEMBER-NOT-FOUND');
          const ids = { user_id: to, session_id, home_group_id, handed_over_by: from };
          const audit = { event: 'group.owner_changed', ...ids } as const;
          return { events: none, audit: to === from ? none : [audit], sessions: none };
        },
      },
      origin,
    );
    return { message: 'OWNER_CHANGED', user_id: to, timestamp: now().toISOString() };
  };
}
