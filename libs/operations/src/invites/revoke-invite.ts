import { inviteRef, inviteState } from '@auth-account/stores';
import type { Mongo } from '../context.ts';
import { OperationError } from '../operation-error.ts';
import { assertOperator, type Operator } from '../operator.ts';
import type { Plan } from '../plan.ts';

/** An invite of a group, named by the digest of its token. */
export interface InviteName {
  readonly groupId: string;
  readonly ref: string;
}

export interface RevokedInvite {
  readonly group_id: string;
  readonly ref: string;
  readonly request_id: string;
}

/** Number of a group's invites that are over among which one is searched, to say why it cannot be revoked. */
const tombstones = 100;

/**
 * Plans to revoke an invite, as the owner of its group would. Nobody joins with it afterwards; members stay. Throws an
 * `OperationError`: `unknown` if the group has no such invite, `refused` if it is over, `invalid` if the operator's name
 * or reason may not go into the logs. The plan's run throws `changed` if the invite has ended in between.
 */
export async function planRevocationOfInvite(
  { stores: { invites }, now, operator }: Pick<Mongo, 'stores' | 'now'> & { readonly operator: Operator },
  { groupId, ref }: InviteName,
): Promise<Plan<RevokedInvite>> {
  assertOperator(operator);
  const { name, reason, requestId, audit } = operator;
  const found = await invites.list(groupId, now(), tombstones);
  const invite = found.invites.find(({ _id }) => inviteRef(_id) === ref);
  if (invite === undefined) throw new OperationError('unknown', `The group ${groupId} has no invite ${ref}.`);
  const state = inviteState(invite, now());
  if (state !== 'good') throw new OperationError('refused', `The invite ${ref} is over already: ${state}.`);
  const uses = invite.max_uses === null ? `${invite.uses}` : `${invite.uses} of ${invite.max_uses}`;
  return {
    question: `Revoke the invite ${ref} into the group ${groupId}? Nobody can join with it any more. Used: ${uses}.`,
    async run() {
      const isRevoked = await invites.revoke(invite._id, groupId, now());
      if (!isRevoked) throw new OperationError('changed', `The invite ${ref} has ended in between.`);
      const line = { event: 'invite.revoked', outcome: 'success', home_group_id: groupId, invite_ref: ref };
      audit({ ...line, operator: name, operator_reason: reason, request_id: requestId });
      return { group_id: groupId, ref, request_id: requestId };
    },
  };
}
