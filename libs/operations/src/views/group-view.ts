import { inviteRef, inviteState } from '@auth-account/stores';
import type { InviteDocument } from '@auth-account/stores/documents';
import type { Mongo } from '../context.ts';
import { OperationError } from '../operation-error.ts';
import { maskEmail } from './mask-email.ts';

/** Returns an invite without its token. */
export function describeInvite(invite: InviteDocument, now: Date) {
  const { _id, home_group_id, created_at, expires_at, uses, max_uses } = invite;
  const state = inviteState(invite, now);
  return { ref: inviteRef(_id), group_id: home_group_id, created_at, expires_at, uses, max_uses, state };
}

/** Limits for what one view shows. */
const [maxMembers, maxTombstones] = [200, 20];

/**
 * Returns a group, its members (the eldest first) and its invites. Throws an `OperationError` of the kind `unknown` if
 * there is no such group.
 */
export async function viewGroup(
  { collections, stores, now }: Pick<Mongo, 'collections' | 'stores' | 'now'>,
  id: string,
) {
  const at = now();
  const groupId = id.toLowerCase();
  const [group, members, { invites }] = await Promise.all([
    collections.groups.findOne({ _id: groupId }),
    collections.users.find({ home_group_id: groupId }).sort({ joined_at: 1, _id: 1 }).limit(maxMembers).toArray(),
    stores.invites.list(groupId, at, maxTombstones),
  ]);
  if (group === null) throw new OperationError('unknown', `There is no group ${id}.`);
  return {
    group_id: group._id,
    account_type: group.account_type,
    name: group.name ?? null,
    created_at: group.created_at,
    closed_at: group.closed_at,
    members: members.map(({ _id, email, role, joined_at }) => {
      return { user_id: _id, email: maskEmail(email), role, joined_at };
    }),
    invites: invites.map((invite) => describeInvite(invite, at)),
  };
}
