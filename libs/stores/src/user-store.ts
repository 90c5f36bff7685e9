import type { ClientSession } from 'mongodb';
import type { Collections } from './collections.ts';
import type { UserDocument } from './documents.ts';

/** The key under which an address is unique: lower case (decisions, "Registration"). */
export function emailKey(email: string): string {
  return email.toLowerCase();
}

/** Accounts. */
export interface UserStore {
  findByEmail(email: string): Promise<UserDocument | undefined>;
  isEmailTaken(email: string): Promise<boolean>;
  /** Reads with majority concern: what it says cannot be rolled back. */
  exists(userId: string): Promise<boolean>;
  /** Throws the driver's duplicate-key error (`email_key_unique`) where the address is taken. */
  insert(user: UserDocument, session: ClientSession): Promise<void>;
  /** Marks a login on the user's document and gives its state in this transaction; undefined where the user is gone. */
  touchLogin(userId: string, at: Date, session: ClientSession): Promise<UserDocument | undefined>;
  /** Marks on the user's document that all sessions are being changed; false where the user is gone. */
  touchSessions(userId: string, at: Date, session: ClientSession): Promise<boolean>;
  /** Marks the same on every user of the group, and gives who they are. */
  touchGroupSessions(groupId: string, at: Date, session: ClientSession): Promise<string[]>;
  setPasswordHash(userId: string, from: string, to: string): Promise<void>;
}

export function createUserStore({ users }: Collections): UserStore {
  return {
    async findByEmail(email) {
      return (await users.findOne({ email_key: emailKey(email) })) ?? undefined;
    },
    async isEmailTaken(email) {
      return (await users.findOne({ email_key: emailKey(email) }, { projection: { _id: 1 } })) !== null;
    },
    async exists(userId) {
      const options = { projection: { _id: 1 }, readConcern: { level: 'majority' } } as const;
      return (await users.findOne({ _id: userId }, options)) !== null;
    },
    async insert(user, session) {
      await users.insertOne(user, { session });
    },
    async touchLogin(userId, at, session) {
      const options = { session, returnDocument: 'after' } as const;
      return (await users.findOneAndUpdate({ _id: userId }, { $set: { last_login_at: at } }, options)) ?? undefined;
    },
    async touchSessions(userId, at, session) {
      const update = { $set: { sessions_changed_at: at } };
      return (await users.updateOne({ _id: userId }, update, { session })).matchedCount === 1;
    },
    async touchGroupSessions(groupId, at, session) {
      const members = { home_group_id: groupId };
      // Written first: whoever logs in or leaves at the same time conflicts with it.
      await users.updateMany(members, { $set: { sessions_changed_at: at } }, { session });
      const found = await users.find(members, { session, projection: { _id: 1 } }).toArray();
      return found.map(({ _id }) => _id);
    },
    async setPasswordHash(userId, from, to) {
      // Only over the hash that was verified: a password changed in between stays changed.
      await users.updateOne({ _id: userId, password_hash: from }, { $set: { password_hash: to } });
    },
  };
}
