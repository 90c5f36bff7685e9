import type { AccountType } from '@auth-account/contracts';
import type { RegisterRequest } from '@auth-account/contracts/http/register';
import { type GroupStore, type InviteStore, inviteState } from '@auth-account/stores';
import type { InviteDocument } from '@auth-account/stores/documents';
import type { ClientSession } from 'mongodb';
import type { Ids } from '../../request/ids.ts';
import { createJudgeInvite, inviteInvalid } from '../invites/invite-validity.ts';

/** The space of a new account: a new space, or the space of an invite. */
export type Space = { readonly home_group_id: string; readonly account_type: AccountType } & (
  | { readonly kind: 'new' }
  | { readonly kind: 'join'; readonly token: string; readonly sentToken: string }
);

export interface SpacesDeps {
  readonly groups: Pick<GroupStore, 'insert' | 'isFull' | 'addMember'>;
  readonly invites: Pick<InviteStore, 'find' | 'use'>;
  readonly maxGroupMembers: number;
  readonly ids: Pick<Ids, 'groupId'>;
  readonly now: () => Date;
}

/** The spaces of new accounts. Both functions raise `ERR-INVITE-TOKEN-INVALID`. */
export interface Spaces {
  /** Chooses a new space, or the space of the invite. Stores nothing. */
  choose(input: Pick<RegisterRequest, 'space_creation_mode' | 'invite_token'>): Promise<Space>;
  /** Creates the new space, or uses the invite and counts the user as a member of its group. */
  enter(space: Space, userId: string, at: Date, session: ClientSession): Promise<void>;
}

export function createSpaces(deps: SpacesDeps): Spaces {
  const { groups, invites, maxGroupMembers, ids, now } = deps;
  const judgeInvite = createJudgeInvite(deps);

  async function goodInvite(token: string): Promise<InviteDocument> {
    const invite = await invites.find(token);
    const state = invite && (await judgeInvite(invite));
    if (invite === undefined || state !== 'good') throw inviteInvalid(token, state);
    return invite;
  }

  return {
    async choose({ space_creation_mode: mode, invite_token }) {
      if (mode !== 'JOIN_EXISTING') {
        const account_type = mode === 'CREATE_NEW_HOME' ? 'HOME' : 'OFFICE';
        return { kind: 'new', home_group_id: ids.groupId(), account_type };
      }
      const sentToken = invite_token ?? '';
      const { _id: token, home_group_id, account_type } = await goodInvite(sentToken);
      return { kind: 'join', token, sentToken, home_group_id, account_type };
    },
    async enter(space, userId, at, session) {
      const { home_group_id: _id, account_type } = space;
      if (space.kind === 'new') {
        await groups.insert(
          { _id, account_type, owner_id: userId, member_count: 1, created_at: at, closed_at: null },
          session,
        );
        return;
      }
      // This write fails if the invite was revoked or used up after it was read.
      const used = await invites.use(space.token, now(), session);
      if (used === undefined) {
        const invite = await invites.find(space.token);
        throw inviteInvalid(space.sentToken, invite && inviteState(invite, now()));
      }
      // After the invite was read, somebody took the group's last place, or the group was closed.
      if (!(await groups.addMember(_id, maxGroupMembers, session))) throw inviteInvalid(space.sentToken, 'used_up');
    },
  };
}
