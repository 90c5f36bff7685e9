import type { ClientSession } from 'mongodb';
import type { Collections } from './collections.ts';
import type { InviteDocument } from './documents.ts';

/** Why an invite leads nowhere any more, or `good`. */
export type InviteState = 'good' | 'expired' | 'revoked' | 'used_up';

/** What an invite is worth at that moment. */
export function inviteState(invite: InviteDocument, now: Date): InviteState {
  if (invite.revoked_at !== null) return 'revoked';
  if (invite.expires_at <= now) return 'expired';
  return invite.max_uses !== null && invite.uses >= invite.max_uses ? 'used_up' : 'good';
}

/** Invites into groups. Tokens are compared in lower case: UUIDs come back in capitals from some platforms. */
export interface InviteStore {
  find(token: string): Promise<InviteDocument | undefined>;
  insert(invite: InviteDocument): Promise<void>;
  /**
   * Counts one use where the invite is still good at `now`, and gives it as it then is; undefined where it is not.
   * It writes the invite's document, so that a revocation in between conflicts with the transaction.
   */
  use(token: string, now: Date, session: ClientSession): Promise<InviteDocument | undefined>;
}

export function createInviteStore({ invites }: Collections): InviteStore {
  return {
    async find(token) {
      return (await invites.findOne({ _id: token.toLowerCase() })) ?? undefined;
    },
    async insert(invite) {
      await invites.insertOne({ ...invite, _id: invite._id.toLowerCase() });
    },
    async use(token, now, session) {
      const isGood = {
        _id: token.toLowerCase(),
        revoked_at: null,
        expires_at: { $gt: now },
        $or: [{ max_uses: null }, { $expr: { $lt: ['$uses', '$max_uses'] } }],
      };
      const options = { session, returnDocument: 'after' } as const;
      return (await invites.findOneAndUpdate(isGood, { $inc: { uses: 1 } }, options)) ?? undefined;
    },
  };
}
