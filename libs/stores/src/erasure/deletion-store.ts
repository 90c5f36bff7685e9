import type { ClientSession } from 'mongodb';
import { type Credentials, unchangedSince } from '../account/credentials.ts';
import { addRevocations } from '../account/provider-revocation-store.ts';
import type { ErasedSessionDocument, SessionDocument, UserDocument } from '../documents.ts';
import type { LeftGroup, MembershipStore } from '../group/membership-store.ts';
import type { Collections } from '../mongo/collections.ts';

/** An account whose erasure is due, leased to one worker. */
export interface DueAccount {
  readonly user: UserDocument;
  readonly lease: string;
}

/** An account that was erased, and the consequence for its group. */
export interface ErasedAccount extends LeftGroup {
  readonly user: UserDocument;
}

/** A session of an account. Gateways and the api must learn that it has ended. */
export type EndedSession = Pick<SessionDocument, '_id' | 'revoked_at' | 'revoked_reason' | 'revoked_request_id'>;

export interface ScheduledDeletion {
  /** Time of the erasure. */
  readonly deletesAt: Date;
  /** False if an earlier order has set this time. */
  readonly isNew: boolean;
  /** True if the account's email address is verified. */
  readonly isVerified: boolean;
}

/** Returns the time of the erasure for a deletion ordered at `orderedAt`. */
export function erasureTime(orderedAt: Date, graceDays: number): Date {
  return new Date(orderedAt.getTime() + graceDays * 86_400_000);
}

/** Deletions of accounts: ordered, cancelled, and carried out after the grace period. */
export interface DeletionStore {
  /**
   * Orders the deletion. Returns undefined, and orders nothing, if the password or the email address has been changed
   * since the document was read. If a deletion is ordered already, its time does not change. Conflicts with a
   * concurrent login.
   */
  schedule(seen: Credentials, deletesAt: Date, session: ClientSession): Promise<ScheduledDeletion | undefined>;
  /**
   * Cancels the deletion if the erasure is not due yet and neither password nor email address has changed since the
   * document was read; otherwise returns false. Only an operator can cancel the deletion of a disabled account.
   */
  cancel(seen: Credentials, now: Date, session: ClientSession, by?: { readonly isOperator: boolean }): Promise<boolean>;
  /**
   * Leases the account that has been due for longest, so that no other worker takes it until `until`; undefined if no
   * free account was due by `dueBy`.
   */
  claim(claim: ErasureClaim): Promise<DueAccount | undefined>;
  /**
   * Removes all but `keep` of the account's ended sessions, so that the transaction of the erasure stays small however
   * often the account has logged in.
   */
  removeEndedSessions(userId: string, keep: number): Promise<void>;
  /** Returns the account's sessions that are live or have ended since `since`. */
  listEndedSince(userId: string, since: Date): Promise<EndedSession[]>;
  /**
   * Removes everything that is stored about the person, and ends the membership. If another worker has the lease now or
   * the deletion was cancelled, removes nothing and returns undefined. The events in the outbox and in dead letters
   * stay, because they hold only ids. Records of sessions that ended within `lifetimeMs` stay for that time, because
   * access tokens of these sessions may still be valid. Tokens of providers stay until they are revoked.
   */
  erase(due: DueAccount, { now, lifetimeMs }: ErasureTime, session: ClientSession): Promise<ErasedAccount | undefined>;
  /** Returns the number of accounts whose erasure was due at `at`, counted up to `limit`. */
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
  /** Time for which the end of a session must be known, in milliseconds. */
  readonly lifetimeMs: number;
}

/** Number of sessions that one command removes outside the transaction. */
const removedAtOnce = 5_000;

export function createDeletionStore(collections: Collections, memberships: MembershipStore): DeletionStore {
  const { users, sessions, groups } = collections;
  return {
    async schedule(seen, deletesAt, session) {
      const touches = { $add: [{ $ifNull: ['$touches', 0] }, 1] };
      const update = [{ $set: { deletes_at: { $ifNull: ['$deletes_at', deletesAt] }, touches } }];
      const options = {
        session,
        returnDocument: 'before',
        projection: { deletes_at: 1, email_verified_at: 1 },
      } as const;
      const before = await users.findOneAndUpdate(unchangedSince(seen), update, options);
      if (before === null) return;
      const { deletes_at, email_verified_at } = before;
      const isVerified = email_verified_at !== undefined;
      return { deletesAt: deletes_at ?? deletesAt, isNew: deletes_at === undefined, isVerified };
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
      // This is the first write, so a login, restore or move either comes before the whole erasure or finds no account.
      const leased = { _id, deletes_at: { $lte: now }, 'erasure.lease': lease };
      const user = await users.findOneAndDelete(leased, { session });
      if (user === null) return;
      await keepEnds(collections, { userId: _id, now, lifetimeMs }, session);
      await eraseTraces(collections, _id, session);
      await addRevocations(collections, { userId: _id, identities: user.identities ?? [], at: now }, session);
      const left = await memberships.end({ userId: _id, groupId: user.home_group_id, at: now }, session);
      // No member is left for whom a later import could need the key.
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
 * Stores, for the deny list and without the user, which sessions ended recently. Live sessions end with the account.
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

/** Removes the person's data from the other collections. */
async function eraseTraces(
  { sessions, challenges, idempotency, invites }: Collections,
  user_id: string,
  session: ClientSession,
): Promise<void> {
  // The commands run one after another, because a transaction does not allow parallel commands. Each filter matches an
  // index.
  await sessions.deleteMany({ user_id, is_revoked: true }, { session });
  await sessions.deleteMany({ user_id, is_revoked: false }, { session });
  await challenges.deleteMany({ user_id }, { session });
  await idempotency.deleteMany({ user_id }, { session });
  await invites.updateMany({ created_by: user_id }, { $set: { created_by: null } }, { session });
}
