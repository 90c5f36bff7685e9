import { type GroupStore, type InviteDocument, type InviteState, inviteState } from '@auth-account/stores';

export interface JudgeInviteDeps {
  readonly groups: Pick<GroupStore, 'isFull'>;
  readonly maxGroupMembers: number;
  readonly now: () => Date;
}

/** Says what an invite is worth to whoever would join by it. */
export type JudgeInvite = (invite: InviteDocument) => Promise<InviteState>;

/** Makes the function that judges invites: one that is good by itself is used up while its group is full. */
export function createJudgeInvite({ groups, maxGroupMembers, now }: JudgeInviteDeps): JudgeInvite {
  return async (invite) => {
    const state = inviteState(invite, now());
    if (state !== 'good') return state;
    return (await groups.isFull(invite.home_group_id, maxGroupMembers)) ? 'used_up' : 'good';
  };
}
