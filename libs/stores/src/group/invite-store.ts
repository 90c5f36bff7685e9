import { createHash } from 'node:crypto';
import type { ClientSession, Filter } from 'mongodb';
import type { InviteDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';

/** Reason why an invite is no longer usable, or `good`. */
export type InviteState = 'good' | 'expired' | 'revoked' | 'used_up';

/** Returns `good` if the invite is usable at `now`, otherwise the reason why it is not. */
export function inviteState(invite: InviteDocument, now: Date): InviteState {
  if (invite.revoked_at !== null) return 'revoked';
  if (invite.expires_at <= now) return 'expired';
  return invite.max_uses !== null && invite.uses >= invite.max_uses ? 'used_up' : 'good';
}

/**
 * Returns a digest by which staff name an invite, because whoever sees its token can join. It needs no key: the token is
 * a random UUID, which nobody finds by trying.
 */
export function inviteRef(token: string): string {
  return createHash('sha256').update(token).digest('hex').slice(0, 16);
}

/** A group's invites: all that are good, and the newest tombstones (invites that are over). */
export interface InviteList {
  /** Invites, newest first. */
  readonly invites: InviteDocument[];
  /** True if there are more tombstones than requested. */
  readonly hasMore: boolean;
}

const made = { _id: 0, home_group_id: 1, created_at: 1, expires_at: 1, max_uses: 1, uses: 1, revoked_at: 1 } as const;

/** An invite as its creator sees it, without its token. */
export type MadeInvite = Pick<InviteDocument, Exclude<keyof typeof made, '_id'>>;

/** Invites into groups. Tokens are compared in lower case, because some platforms return UUIDs in capitals. */
export interface InviteStore {
  find(token: string): Promise<InviteDocument | undefined>;
  /** Reads with majority concern, so the result can't be rolled back. */
  exists(token: string): Promise<boolean>;
  insert(invite: InviteDocument, session?: ClientSession): Promise<void>;
  /** Returns the number of the group's good invites. */
  countGood(groupId: string, now: Date, session: ClientSession): Promise<number>;
  /** Returns the group's good invites, and at most `tombstones` that are over. */
  list(groupId: string, now: Date, tombstones: number): Promise<InviteList>;
  /** Returns at most `most` invites that the user has created, in any group, newest first. */
  listMadeBy(userId: string, max: number): Promise<{ invites: MadeInvite[]; hasMore: boolean }>;
  /**
   * Counts one use if the invite is still good at `now`, and returns the invite after the change; undefined if it is
   * not good. Writing the document makes a concurrent revocation conflict with the transaction.
   */
  use(token: string, now: Date, session: ClientSession): Promise<InviteDocument | undefined>;
  /**
   * Revokes the group's invite if it is still good; false if it is not. After the acknowledgement nobody can join with
   * the invite.
   */
  revoke(token: string, groupId: string, at: Date, session?: ClientSession): Promise<boolean>;
  /** Revokes the group's invites that have not expired, in the transaction that closes the group. */
  revokeOfGroup(groupId: string, at: Date, session: ClientSession): Promise<void>;
  /**
   * Revokes the good invites that the user has created, in any group, and returns their number. An invite whose
   * creation is still running is covered if the same transaction has already written the user's document.
   */
  revokeMadeBy(userId: string, at: Date, session: ClientSession): Promise<number>;
}

export function createInviteStore({ invites, users, groups }: Collections): InviteStore {
  // The sort order is that of the index. If the id were added, every tombstone of the group would have to be read and
  // sorted.
  const newestFirst = { created_at: -1 } as const;
  return {
    async find(token) {
      return (await invites.findOne({ _id: token.toLowerCase() })) ?? undefined;
    },
    async exists(token) {
      const options = { projection: { _id: 1 }, readConcern: { level: 'majority' } } as const;
      return (await invites.findOne({ _id: token }, options)) !== null;
    },
    async insert(invite, session) {
      await invites.insertOne({ ...invite, _id: invite._id.toLowerCase() }, session && { session });
    },
    countGood(groupId, now, session) {
      return invites.countDocuments({ home_group_id: groupId, ...good(now) }, { session });
    },
    async list(groupId, now, tombstones) {
      const ofGroup = { home_group_id: groupId };
      const live = await invites.find({ ...ofGroup, ...good(now) }).toArray();
      const ended = { ...ofGroup, $nor: [good(now)] };
      const over = await invites
        .find(ended)
        .sort(newestFirst)
        .limit(tombstones + 1)
        .toArray();
      // An invite that ends between the two reads is in both results. Its newer state counts.
      const byToken = new Map([...live, ...over.slice(0, tombstones)].map((invite) => [invite._id, invite]));
      const all = [...byToken.values()].sort((a, b) => b.created_at.getTime() - a.created_at.getTime());
      return { invites: all, hasMore: over.length > tombstones };
    },
    async listMadeBy(userId, max) {
      const found = await invites
        .find<MadeInvite>({ created_by: userId }, { projection: made })
        .sort(newestFirst)
        .limit(max + 1)
        .toArray();
      return { invites: found.slice(0, max), hasMore: found.length > max };
    },
    async use(token, now, session) {
      const match = { _id: token.toLowerCase(), ...good(now) };
      const options = { session, returnDocument: 'after' } as const;
      return (await invites.findOneAndUpdate(match, { $inc: { uses: 1 } }, options)) ?? undefined;
    },
    async revoke(token, groupId, at, session) {
      const match = { _id: token.toLowerCase(), home_group_id: groupId, ...good(at) };
      return (
        (await invites.updateOne(match, { $set: { revoked_at: at } }, { ...(session && { session }) })).matchedCount ===
        1
      );
    },
    async revokeOfGroup(groupId, at, session) {
      const open = { home_group_id: groupId, revoked_at: null, expires_at: { $gt: at } };
      await invites.updateMany(open, { $set: { revoked_at: at } }, { session });
    },
    async revokeMadeBy(userId, at, session) {
      const user = await users.findOne({ _id: userId }, { session, projection: { home_group_id: 1 } });
      // Creating an invite increments the same field, so the two transactions conflict.
      await groups.updateOne({ _id: user?.home_group_id ?? '' }, { $inc: { invites_made: 1 } }, { session });
      const open = { created_by: userId, ...good(at) };
      return (await invites.updateMany(open, { $set: { revoked_at: at } }, { session })).matchedCount;
    },
  };
}

/** Filter for invites whose `inviteState` is `good`. */
function good(now: Date): Filter<InviteDocument> {
  return {
    revoked_at: null,
    expires_at: { $gt: now },
    $or: [{ max_uses: null }, { $expr: { $lt: ['$uses', '$max_uses'] } }],
  };
}
