import type { GroupStore, InviteStore, SessionStore, UserStore } from '@auth-account/stores';
import type { GroupDocument } from '@auth-account/stores/documents';
import type { LeftGroup, MembershipStore } from '@auth-account/stores/memberships';
import type { Membership } from '@auth-account/stores/user-memberships';
import type { ClientSession } from 'mongodb';
import { type Commit, none } from '../../announcements/commit.ts';
import type { AuditEvent } from '../../audit/events.ts';
import type { Ids } from '../../request/ids.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';

export interface ChangeGroupDeps {
  readonly users: Pick<UserStore, 'move' | 'hasMoved'>;
  readonly memberships: MembershipStore;
  readonly invites: Pick<InviteStore, 'revoke'>;
  readonly sessions: Pick<SessionStore, 'changeClaims' | 'holdOf'>;
  readonly commit: Commit;
}

/** A user's move from one group into another. */
export interface GroupChange {
  readonly userId: string;
  /** The group that the user leaves. */
  readonly from: string;
  readonly to: Membership;
  /** Creates the new group, or counts the user as a member of an existing one. Throws if that is impossible. */
  readonly enter: (session: ClientSession) => Promise<void>;
  /** Returns the error for a user who is not, or no longer, in `from`. */
  readonly notThere: () => Error;
  /** Checks the group that the user leaves, in the transaction. Throws if the change is not allowed. */
  readonly assertAllowed?: (left: GroupDocument) => Promise<void>;
  /** Audit records of the user's own move. */
  readonly audit: readonly AuditEvent[];
  /**
   * Audit record for the end of the invite that brought the user into `from`. If this is given, the invite also ends,
   * unless it is over already.
   */
  readonly endsInvite?: AuditEvent;
}

/** Result of a change of group. */
export interface GroupChanged {
  readonly isInviteEnded: boolean;
}

/** Carries out a change of group. */
export type ChangeGroup = (change: GroupChange, origin: RequestOrigin) => Promise<GroupChanged>;

/**
 * Carries out every change of group (docs/specification/groups-and-invites.md, "Moving"). One transaction writes the
 * user, the claims of every live session, and both groups. If the owner leaves, the longest-standing member inherits
 * the group. If the last member leaves, the group closes and its invites end. After the commit the deny list gets the
 * new versions of the claims, and the streams close with 4004. No session ends.
 *
 * Every join and leave writes the group's document, and every login writes the user's document. So a simultaneous join,
 * leave or login comes either before or after the whole change.
 */
export function createChangeGroup(deps: ChangeGroupDeps): ChangeGroup {
  const { users, memberships, invites, sessions, commit } = deps;

  return (change, origin) => {
    const { userId, from, to, enter, notThere, assertAllowed, audit, endsInvite } = change;
    const { requestId } = origin;
    const at = to.joined_at;
    const request = {
      at,
      lockKey: contendedGroup(change),
      hold: sessions.holdOf([userId]),
      isCommitted: () => users.hasMoved(userId, to),
      // A user whose app has given up may have left and come back since. Then `from` is right again, but the change is
      // unwanted.
      ifClientLeft: 'abort',
      async work(session: ClientSession) {
        // This write comes first, so that the second of two requests for the same move fails here, and not at the
        // invite that the first has used up.
        const moved = await users.move(userId, from, to, session);
        if (moved === undefined) throw notThere();
        await enter(session);
        const left = await memberships.end({ userId, groupId: from, at, assertAllowed }, session);
        const invite = endsInvite && moved.joined_by;
        const isInviteEnded = invite !== undefined && (await invites.revoke(invite, from, at, session));
        const changed = await sessions.changeClaims(userId, { ...to, at, requestId }, session);
        const records = [...audit, ...consequences(change, left), ...(endsInvite && isInviteEnded ? [endsInvite] : [])];
        const versions = changed.map(({ _id, claims }) => ({ sessionId: _id, ver: claims.ver }));
        return { isInviteEnded, events: none, audit: records, sessions: [{ changed: versions }] };
      },
    } as const;
    return commit(request, origin);
  };
}

/** Returns the audit records about the group that the user left: its new owner, or its end. */
function consequences({ userId, from: home_group_id }: GroupChange, { heir, isClosed }: LeftGroup): AuditEvent[] {
  const byNobody = { home_group_id, handed_over_by: undefined, session_id: undefined };
  return [
    ...(heir === undefined ? none : [{ event: 'group.owner_changed', user_id: heir, ...byNobody } as const]),
    ...(isClosed ? [{ event: 'group.closed', user_id: userId, home_group_id } as const] : none),
  ];
}

/**
 * Returns the group that other requests may write at the same time. It cannot be a new household, because nobody else
 * knows a new household yet.
 */
function contendedGroup({ from, to }: GroupChange): string {
  return to.role === 'owner' ? from : to.home_group_id;
}

/** Returns a new household of the user's own, which is the user's home after leaving a group. */
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
