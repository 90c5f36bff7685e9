import type { ClientSession, Filter } from 'mongodb';
import type { UserDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import { confirmedRead } from '../mongo/fenced-sessions.ts';
import { type Credentials, unchangedSince } from './credentials.ts';
import { emailKey, holderOf } from './email-key.ts';
import { forgottenWith, type LearnedDevice, learn, type SessionDevice } from './known-devices.ts';
import { type ChangedFields, type MethodsToRemove, type RemovedMethods, updateAndRemove } from './method-removal.ts';
import { type PresentUser, presentUser } from './present-user.ts';
import type { RemovableField } from './second-factor-store.ts';
import { createUserMemberships, touch, type UserMemberships } from './user-memberships.ts';

/** An account that was never stored. */
export type NewUser = Omit<UserDocument, 'deletes_at' | 'totp'>;

/** Fields of the user's document that the user sets; null removes a field, and an absent field stays as it is. */
export type ProfileChange = { readonly [F in 'display_name' | 'locale']?: UserDocument[F] | null | undefined };

/** An operator's decision to disable the account. */
export interface Disabled {
  readonly at: Date;
  readonly reason: string;
  /** Name of the operator. */
  readonly by: string;
}

/** Returns a number that the account's live sessions do not exceed: see `UserDocument.spent_touches`. */
export function maxLiveSessions({
  touches = 0,
  spent_touches = Number.NEGATIVE_INFINITY,
}: Pick<UserDocument, 'touches' | 'spent_touches'>): number {
  return touches - spent_touches;
}

/** A change that takes an account back from somebody else. */
export interface Recovery {
  readonly fields: ChangedFields;
  /** Fields that are removed. */
  readonly gone?: readonly RemovableField[];
  /** Sign-in methods that are removed. */
  readonly signInMethods: MethodsToRemove;
  readonly at: Date;
}

const addresseeFields = {
  ...{ email_verified_at: 1, recovered_at: 1, locale: 1 },
  ...{ pending_email: 1, deletes_at: 1, totp: 1 },
} as const;

/**
 * The part of the user's document that a mail with a code needs. Decoding the whole document would take measurably
 * longer.
 */
export type Addressee = PresentUser<Pick<UserDocument, '_id' | keyof typeof addresseeFields>>;

/** Accounts. */
export interface UserStore extends UserMemberships {
  find(userId: string): Promise<PresentUser | undefined>;
  /** Like `find`, but from a state that can't be rolled back: see {@link confirmedRead}. */
  findConfirmed(userId: string): Promise<PresentUser | undefined>;
  findByEmail(email: string): Promise<PresentUser | undefined>;
  findAddressee(of: { readonly email: string } | { readonly userId: string }): Promise<Addressee | undefined>;
  /**
   * Returns true if an account has the email address, or can still undo its change to another address: see
   * `EmailChangeStore`.
   */
  isEmailTaken(email: string, now: Date): Promise<boolean>;
  /** Reads with majority concern, so the result can't be rolled back. */
  exists(userId: string): Promise<boolean>;
  /**
   * Stores a new account, and returns it as it counts from then on. Throws the driver's duplicate-key error
   * (`email_key_unique`) if the email address is taken.
   */
  insert(user: NewUser, session: ClientSession): Promise<PresentUser>;
  /**
   * Marks a login or a restore on the user's document, and returns the document as it was before, in this transaction;
   * undefined if the user is gone or the erasure is due at `at`. Adds the device `learned` to the account's known devices.
   */
  touchLogin(
    userId: string,
    at: Date,
    session: ClientSession,
    learned?: LearnedDevice,
  ): Promise<PresentUser | undefined>;
  /**
   * Notes that the account will have `live` live sessions after the login whose `touchLogin` has returned `before`, in
   * the same transaction.
   */
  noteLive(before: PresentUser, live: number, session: ClientSession): Promise<void>;
  /**
   * Marks on the user's document that all sessions are being changed; false if the user is gone. `known` replaces the
   * devices that the account knows.
   */
  touchSessions(userId: string, at: Date, session: ClientSession, known?: readonly string[]): Promise<boolean>;
  /** Writes the account, so that the transaction conflicts with all that ends several of its sessions. */
  touch(userId: string, session: ClientSession): Promise<void>;
  /** Removes the device of a session from the account's known devices. */
  forgetDevice(userId: string, device: SessionDevice, session: ClientSession): Promise<void>;
  findDisplayName(userId: string): Promise<string | undefined>;
  /**
   * Writes the fields into the user's document, and removes others. Returns false, and writes nothing, if the email
   * address or a sign-in method has been changed since the document was read, if the fields verify an email address
   * that is verified already, or if the authenticator app of that id waits for its confirmation no longer. Conflicts
   * with a concurrent login.
   */
  changeIfUnchanged(
    seen: Credentials,
    fields: ChangedFields,
    session: ClientSession,
    removed?: readonly RemovableField[],
    enrolled?: string,
  ): Promise<boolean>;
  /** Like `changeIfUnchanged`, but also removes sign-in methods and returns them: see {@link updateAndRemove}. */
  recover(seen: Credentials, recovery: Recovery, session: ClientSession): Promise<RemovedMethods | undefined>;
  /** Reads with majority concern, so the result can't be rolled back. */
  hasPasswordHash(userId: string, hash: string): Promise<boolean>;
  /** Disables the account; false if it is already disabled or is gone. */
  disable(userId: string, disabled: Disabled, session: ClientSession): Promise<boolean>;
  /**
   * Returns true if the account is disabled and `at` is the time at which that happened. Reads with majority concern.
   */
  isDisabledSince(userId: string, at: Date): Promise<boolean>;
  /** Lets the account's user log in again; false if the account is not disabled or is gone. */
  enable(userId: string): Promise<boolean>;
  /** Writes the change and returns the user after it; undefined if the user is gone or the erasure is due at `now`. */
  changeProfile(
    userId: string,
    change: ProfileChange,
    now: Date,
    session: ClientSession,
  ): Promise<PresentUser | undefined>;
  /** Replaces a password's hash with a better hash of the same password. */
  setPasswordHash(userId: string, from: string, to: string): Promise<void>;
}

export function createUserStore(collections: Collections, now: () => Date): UserStore {
  const { users } = collections;
  return {
    ...createReads(users, now),
    ...createWrites(users),
    ...createUserMemberships(users),
    recover(seen, { fields, gone = [], signInMethods, at }, session) {
      const update = changeOf(fields, gone);
      return updateAndRemove(collections, unchangedFilter(seen, fields), update, { signInMethods, at }, session);
    },
  };
}

type Reads =
  | 'findByEmail'
  | 'findAddressee'
  | 'find'
  | 'findConfirmed'
  | 'isEmailTaken'
  | 'exists'
  | 'findDisplayName'
  | 'isDisabledSince'
  | 'hasPasswordHash';

function createReads(users: Collections['users'], now: () => Date): Pick<UserStore, Reads> {
  return {
    async findByEmail(email) {
      return presentUser(await users.findOne({ email_key: emailKey(email) }), now());
    },
    async findAddressee(of) {
      const filter = 'email' in of ? { email_key: emailKey(of.email) } : { _id: of.userId };
      return presentUser(await users.findOne(filter, { projection: addresseeFields }), now());
    },
    async find(userId) {
      return presentUser(await users.findOne({ _id: userId }), now());
    },
    async findConfirmed(userId) {
      return presentUser(await users.findOne({ _id: userId }, confirmedRead), now());
    },
    async isEmailTaken(email, now) {
      return (await users.findOne(holderOf(email, now), { projection: { _id: 1 } })) !== null;
    },
    async exists(userId) {
      const options = { projection: { _id: 1 }, readConcern: { level: 'majority' } } as const;
      return (await users.findOne({ _id: userId }, options)) !== null;
    },
    async findDisplayName(userId) {
      return (await users.findOne({ _id: userId }, { projection: { _id: 0, display_name: 1 } }))?.display_name;
    },
    async isDisabledSince(userId, at) {
      const options = { projection: { _id: 1 }, readConcern: { level: 'majority' } } as const;
      return (await users.findOne({ _id: userId, disabled_at: at }, options)) !== null;
    },
    async hasPasswordHash(userId, hash) {
      const options = { projection: { _id: 1 }, readConcern: { level: 'majority' } } as const;
      return (await users.findOne({ _id: userId, password_hash: hash }, options)) !== null;
    },
  };
}

function unchangedFilter(seen: Credentials, { email_verified_at }: Partial<UserDocument>): Filter<UserDocument> {
  // An email address is verified for the first time only once.
  return { ...unchangedSince(seen), ...(email_verified_at && { email_verified_at: { $exists: false } }) };
}

/** Returns the update that writes and removes fields. */
function changeOf(fields: ChangedFields, removed: readonly RemovableField[]) {
  const gone = Object.fromEntries(removed.map((field) => [field, true as const]));
  return { ...touch(fields), ...(removed.length > 0 && { $unset: gone }) };
}

function createWrites(users: Collections['users']): Omit<UserStore, Reads | 'recover' | keyof UserMemberships> {
  return {
    async insert(user, session) {
      await users.insertOne(user, { session });
      return user as PresentUser;
    },
    async touchLogin(userId, at, session, learned) {
      const options = { session, returnDocument: 'before' } as const;
      const update = { ...touch({ last_login_at: at }), ...(learned && { $push: learn(learned, at) }) };
      return presentUser(await users.findOneAndUpdate({ _id: userId }, update, options), at);
    },
    async noteLive({ _id, touches = 0 }, live, session) {
      await users.updateOne({ _id }, { $set: { spent_touches: touches + 1 - live } }, { session });
    },
    async touchSessions(userId, at, session, known) {
      const update = touch({ sessions_changed_at: at, ...(known && { known_devices: known }) });
      return (await users.updateOne({ _id: userId }, update, { session })).matchedCount === 1;
    },
    async touch(_id, session) {
      await users.updateOne({ _id }, { $inc: { changes: 1 } }, { session });
    },
    async forgetDevice(_id, device, session) {
      const known_devices = { $in: forgottenWith(device) };
      await users.updateOne({ _id, known_devices }, { $pull: { known_devices } }, { session });
    },
    async changeIfUnchanged(seen, fields, session, removed = [], enrolled) {
      const waiting: Filter<UserDocument> = enrolled === undefined ? {} : { 'pending_totp.factor_id': enrolled };
      const filter = { ...unchangedFilter(seen, fields), ...waiting };
      return (await users.updateOne(filter, changeOf(fields, removed), { session })).matchedCount === 1;
    },
    async disable(userId, { at, reason, by }, session) {
      const update = touch({ disabled_at: at, disabled_reason: reason, disabled_by: by, sessions_changed_at: at });
      const filter = { _id: userId, disabled_at: { $exists: false } };
      return (await users.updateOne(filter, update, { session })).matchedCount === 1;
    },
    async enable(userId) {
      const disabled = { _id: userId, disabled_at: { $exists: true } };
      const update = { $unset: { disabled_at: true, disabled_reason: true, disabled_by: true } } as const;
      return (await users.updateOne(disabled, update)).matchedCount === 1;
    },
    async changeProfile(userId, change, now, session) {
      const fields = Object.entries(change).filter(([, value]) => value !== undefined);
      const set = Object.fromEntries(fields.filter(([, value]) => value !== null));
      const unset = Object.fromEntries(
        fields.filter(([, value]) => value === null).map(([name]) => [name, true as const]),
      );
      const present = { _id: userId, deletes_at: { $not: { $lte: now } } };
      const options = { session, returnDocument: 'after' } as const;
      return presentUser(await users.findOneAndUpdate(present, { $set: set, $unset: unset }, options), now);
    },
    async setPasswordHash(userId, from, to) {
      // Replaces only the hash that was verified, so a password that was changed in between stays changed.
      await users.updateOne({ _id: userId, password_hash: from }, { $set: { password_hash: to } });
    },
  };
}
