import type { ClientSession } from 'mongodb';
import type { Collections } from './collections.ts';
import type { ErasedSessionDocument, SessionDocument, UserDocument } from './documents.ts';
import type { LeftGroup, MembershipStore } from './membership-store.ts';
import { type Credentials, unchangedSince } from './user-store.ts';

/** An account that is due, leased to one worker. */
export interface DueAccount {
  readonly user: UserDocument;
  readonly lease: string;
}

/** An account that is gone, and the consequence for its group. */
export interface ErasedAccount extends LeftGroup {
  readonly user: UserDocument;
}

/** A session of an account whose end gateways and the api must know. */
export type EndedSession = Pick<SessionDocument, '_id' | 'revoked_at' | 'revoked_reason' | 'revoked_request_id'>;

export interface ScheduledDeletion {
  /** Time of the erasure. */
  readonly deletesAt: Date;
  /** False if an earlier order has set it. */
  readonly isNew: boolean;
}

/** Returns the time of the erasure, for a deletion that is ordered at that time. */
export function erasureTime(orderedAt: Date, graceDays: number): Date {
  return new Date(orderedAt.getTime() + graceDays * 86_400_000);
}

/** Deletions of accounts: ordered, cancelled, and carried out after the grace. */
export interface DeletionStore {
  /**
   * Orders the deletion, unless the password or the address has been changed since the document was read; undefined
   * then. If it is ordered already, that order keeps its time. Logins write the same document, so that none slips past.
   */
  schedule(seen: Credentials, deletesAt: Date, session: ClientSession): Promise<ScheduledDeletion | undefined>;
  /**
   * Cancels the deletion if its time has not come, and neither password nor address has been changed since the document
   * was read; else returns false. A disabled account is left alone, unless an operator cancels its deletion.
   */
  cancel(seen: Credentials, now: Date, session: ClientSession, by?: { readonly isOperator: boolean }): Promise<boolean>;
  /**
   * Leases the account that has been due for longest, so that no other worker takes it until `until`; undefined if none
   * was due by `dueBy` and is free.
   */
  claim(claim: ErasureClaim): Promise<DueAccount | undefined>;
  /**
   * Removes sessions of the account that have ended, except for `keep`, so that the transaction of the erasure stays
   * small however often the account has logged in.
   */
  removeEndedSessions(userId: string, keep: number): Promise<void>;
  /** Returns the account's sessions that live, or that have ended since then. */
  listEndedSince(userId: string, since: Date): Promise<EndedSession[]>;
  /**
   * Removes everything that is stored of the person, and ends the membership. Undefined, and nothing is removed, if the
   * lease has passed on or the deletion was cancelled. The events in the outbox and in dead letters stay: they hold ids
   * only. So do the ends of sessions not older than `lifetimeMs`, whose access tokens may be alive, for that time.
   */
  erase(due: DueAccount, { now, lifetimeMs }: ErasureTime, session: ClientSession): Promise<ErasedAccount | undefined>;
  /** Returns the number of accounts whose time had come by then, counted up to `limit`. */
  countDue(at: Date, limit: number): Promise<number>;
}

export interface ErasureClaim {
  readonly lease: string;
  readonly now: Date;
  readonly dueBy: Date;
  readonly until: Date;
}

export interface ErasureTime {
  readonly now: Date;
  /** Time for which the end of a session matters, in milliseconds. */
  readonly lifetimeMs: number;
}

/** Sessions that one command removes outside the transaction. */
const removedAtOnce = 5_000;

export function createDeletionStore(collections: Collections, memberships: MembershipStore): DeletionStore {
  const { users, sessions, groups } = collections;
  return {
    async schedule(seen, deletesAt, session) {
      const touches = { $add: [{ $ifNull: ['$touches', 0] }, 1] };
      const update = [{ $set: { deletes_at: { $ifNull: ['$deletes_at', deletesAt] }, touches } }];
      const options = { session, returnDocument: 'before', projection: { deletes_at: 1 } } as const;
      const before = await users.findOneAndUpdate(unchangedSince(seen), update, options);
      if (before === null) return;
      return { deletesAt: before.deletes_at ?? deletesAt, isNew: before.deletes_at === undefined };
    },
    async cancel(seen, now, session, { isOperator } = { isOperator: false }) {
      const enabled = isOperator ? {} : { disabled_at: { $exists: false } };
      const waiting = { ...unchangedSince(seen), deletes_at: { $gt: now }, ...enabled };
      const update = { $unset: { deletes_at: true as const }, $inc: { touches: 1 } };
      return (await users.updateOne(waiting, update, { session })).matchedCount === 1;
    },
    async claim({ lease, now, dueBy, until }) {
      const free = [{ erasure: { $exists: false } }, { 'erasure.until': { $lte: now } }];
      const update = { $set: { erasure: { lease, until } } };
      const options = { sort: { deletes_at: 1 }, returnDocument: 'after' } as const;
      const user = await users.findOneAndUpdate({ deletes_at: { $lte: dueBy }, $or: free }, update, options);
      return user === null ? undefined : { user, lease };
    },
    async removeEndedSessions(user_id, keep) {
      const options = { projection: { _id: 1 }, skip: keep, limit: removedAtOnce } as const;
      for (;;) {
        const surplus = await sessions.find({ user_id, is_revoked: true }, options).toArray();
        if (surplus.length === 0) return;
        await sessions.deleteMany({ _id: { $in: surplus.map(({ _id }) => _id) } });
      }
    },
    async listEndedSince(user_id, since) {
      const projection = { revoked_at: 1, revoked_reason: 1, revoked_request_id: 1 };
      const ended = { user_id, is_revoked: true, revoked_at: { $gte: since } };
      const found = await Promise.all(
        [{ user_id, is_revoked: false }, ended].map((filter) =>
          sessions.find<EndedSession>(filter, { projection }).toArray(),
        ),
      );
      return found.flat();
    },
    async erase({ user: { _id }, lease }, { now, lifetimeMs }, session) {
      // The first write: whoever logs in, restores or moves the account comes before all of this, or finds nobody.
      const leased = { _id, deletes_at: { $lte: now }, 'erasure.lease': lease };
      const user = await users.findOneAndDelete(leased, { session });
      if (user === null) return;
      await keepEnds(collections, { userId: _id, now, lifetimeMs }, session);
      await eraseTraces(collections, _id, session);
      const left = await memberships.end({ userId: _id, groupId: user.home_group_id, at: now }, session);
      // Nobody is left whose import it could be.
      const imported = { import_key: true } as const;
      if (left.isClosed) await groups.updateOne({ _id: user.home_group_id }, { $unset: imported }, { session });
      return { user, ...left };
    },
    countDue: (at, limit) => users.countDocuments({ deletes_at: { $lte: at } }, { limit }),
  };
}

type ErasedEnd = Omit<ErasedSessionDocument, 'purge_at'>;
const revoked_reason = 'account_deleted' as const;

/**
 * Keeps the ends that the deny list must have, without a word of whose they were. A session that lives ends with its
 * account.
 */
async function keepEnds(
  { sessions, erasedSessions }: Collections,
  { userId: user_id, now, lifetimeMs }: ErasureTime & { readonly userId: string },
  session: ClientSession,
): Promise<void> {
  const revoked_at = { $gte: new Date(now.getTime() - lifetimeMs) };
  const projection = { revoked_at: 1, revoked_reason: 1, revoked_request_id: 1 };
  const options = { session, projection };
  const ended = await sessions.find<ErasedEnd>({ user_id, is_revoked: true, revoked_at }, options).toArray();
  const live = await sessions.find({ user_id, is_revoked: false }, { session, projection: { _id: 1 } }).toArray();
  const ends = [...ended, ...live.map(({ _id }) => ({ _id, revoked_at: now, revoked_reason }))];
  if (ends.length === 0) return;
  const purge_at = new Date(now.getTime() + lifetimeMs);
  await erasedSessions.insertMany(
    ends.map((end) => ({ ...end, purge_at })),
    { session },
  );
}

/** Removes what other collections hold of the person. */
async function eraseTraces(
  { sessions, challenges, idempotency, invites }: Collections,
  user_id: string,
  session: ClientSession,
): Promise<void> {
  // One after the other: a transaction takes no commands side by side. Each filter is that of an index.
  await sessions.deleteMany({ user_id, is_revoked: true }, { session });
  await sessions.deleteMany({ user_id, is_revoked: false }, { session });
  await challenges.deleteMany({ user_id }, { session });
  await idempotency.deleteMany({ user_id }, { session });
  await invites.updateMany({ created_by: user_id }, { $set: { created_by: null } }, { session });
}
