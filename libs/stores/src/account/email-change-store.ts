import type { CodePurpose } from '@auth-account/contracts/events';
import type { ClientSession } from 'mongodb';
import type { FormerEmail, UserDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import { type Credentials, unchangedSince } from './credentials.ts';
import { emailKey, holderOf } from './email-key.ts';
import { type MethodsToRemove, type RemovedMethods, updateAndRemove } from './method-removal.ts';
import { type PresentUser, presentUser } from './present-user.ts';
import type { RemovableField } from './second-factor-store.ts';

/** The account that has an email address, or can still return to it by undoing a change. */
export type EmailHolder = Pick<UserDocument, '_id' | 'email_key' | 'locale'>;

/** A confirmed change of the email address. */
export interface EmailChange {
  readonly email: string;
  /** The id of the change, and the time until which it can be undone. */
  readonly former: Pick<FormerEmail, 'change_id' | 'until'>;
  /** Devices that the account knows after the change. */
  readonly known_devices: readonly string[];
  readonly at: Date;
}

/**
 * The return to a former email address. The new hash matches no password, and the account knows no device afterwards.
 */
export interface EmailUndo {
  readonly former: FormerEmail;
  /** All other former email addresses of the account, including those that the undo takes away. */
  readonly others: readonly FormerEmail[];
  readonly password_hash: string;
  /** Other sign-in methods that are removed. */
  readonly signInMethods: MethodsToRemove;
  /** Fields of other sign-in methods that are removed. */
  readonly gone: readonly RemovableField[];
  /** Empty if the recovery begins no count anew. */
  readonly recovered: Pick<UserDocument, 'recovered_at'>;
  readonly at: Date;
}

/**
 * Returns true if a code of that purpose may go to the account's address for it. No code for a change goes to an address
 * that another account has.
 */
export async function isRecipient(
  { findHolder }: Pick<EmailChangeStore, 'findHolder'>,
  { _id, pending_email }: Pick<UserDocument, '_id' | 'pending_email'>,
  purpose: CodePurpose,
  now: Date,
): Promise<boolean> {
  if (purpose !== 'email_change') return true;
  const holder = pending_email === undefined ? undefined : await findHolder(pending_email, now);
  return holder === undefined || holder._id === _id;
}

/** An account's former email addresses to which it can no longer return. */
export interface LapsedEmails {
  readonly userId: string;
  readonly former: readonly FormerEmail[];
}

/**
 * Changes of accounts' email addresses. Each change writes the user's document, like every login, so that a change and
 * a login conflict. Each change fails if the email address or the password has changed since the document was read.
 */
export interface EmailChangeStore {
  /** Returns the account that has the email address at `now`, or can still undo its change to another address. */
  findHolder(email: string, now: Date, session?: ClientSession): Promise<EmailHolder | undefined>;
  /** Stores the requested new email address, valid until that time; false if the document has changed. */
  request(seen: Credentials, email: string, until: Date, session: ClientSession): Promise<boolean>;
  /**
   * Changes the email address; false if the document has changed or this address is no longer the requested one. Throws
   * the driver's duplicate-key error (`email_key_unique`) if another account has the address.
   */
  change(seen: UserDocument, change: EmailChange, session: ClientSession): Promise<boolean>;
  /** Returns the account with that change, whether or not the change can still be undone. */
  findByChange(changeId: string): Promise<PresentUser | undefined>;
  /**
   * Gives the account its former email address back, and returns the sign-in methods that are removed: see
   * {@link updateAndRemove}. Returns undefined if the document has changed, also if a removal of the second factor was
   * ordered or stopped. Throws the same duplicate-key error as `change`.
   */
  undo(seen: PresentUser, undo: EmailUndo, session: ClientSession): Promise<RemovedMethods | undefined>;
  /** Returns at most `most` accounts, each with those of its former email addresses that had lapsed at `by`. */
  listLapsed(by: Date, max: number): Promise<LapsedEmails[]>;
  /**
   * Removes these former email addresses from the account. Nothing else removes lapsed addresses, so the caller can
   * first delete other stores' data about them.
   */
  removeFormer(lapsed: LapsedEmails): Promise<void>;
  /** Removes, from all accounts, new email addresses whose requested change had lapsed at `by`. */
  removeLapsedPending(by: Date): Promise<void>;
}

export function createEmailChangeStore(collections: Collections, now: () => Date): EmailChangeStore {
  const { users } = collections;
  const pending = { pending_email: true, pending_email_until: true } as const;
  return {
    async findHolder(email, now, session) {
      const options = { projection: { email_key: 1, locale: 1 }, ...(session && { session }) } as const;
      return (await users.findOne<EmailHolder>(holderOf(email, now), options)) ?? undefined;
    },
    async request(seen, email, until, session) {
      const update = { $set: { pending_email: email, pending_email_until: until }, $inc: { touches: 1 } };
      return (await users.updateOne(unchangedSince(seen), update, { session })).matchedCount === 1;
    },
    async change(seen, { email, former, known_devices, at }, session) {
      const { change_id, until } = former;
      // The former email address is the document's own, because it may have been verified since the document was read.
      const own = { email: '$email', email_key: '$email_key', verified_at: '$email_verified_at' };
      const fields = { email, email_key: emailKey(email), email_verified_at: at, known_devices };
      const $set = {
        ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, { $literal: value }])),
        former_emails: { $concatArrays: [{ $ifNull: ['$former_emails', []] }, [{ change_id, ...own, until }]] },
        touches: { $add: [{ $ifNull: ['$touches', 0] }, 1] },
      };
      const update = [{ $set }, { $unset: Object.keys(pending) }];
      const filter = { ...unchangedSince(seen), pending_email: email };
      return (await users.updateOne(filter, update, { session })).matchedCount === 1;
    },
    async findByChange(changeId) {
      return presentUser(await users.findOne({ 'former_emails.change_id': changeId }), now());
    },
    undo(seen, { former, others, password_hash, signInMethods, gone, recovered, at }, session) {
      const { email, email_key } = former;
      const address = { email, email_key, email_verified_at: at, former_emails: others, known_devices: [] };
      const password = { password_hash, password_changed_at: at, is_password_void: true };
      const order = (seen.totp ?? seen.due_totp)?.removal?.id;
      const filter = { ...unchangedSince(seen), 'totp.removal.id': order ?? { $exists: false } };
      const $unset = { ...pending, ...Object.fromEntries(gone.map((field) => [field, true as const])) };
      const update = { $set: { ...address, ...password, ...recovered }, $unset, $inc: { touches: 1 } };
      return updateAndRemove(collections, filter, update, { signInMethods, at }, session);
    },
    async listLapsed(by, max) {
      const options = { projection: { former_emails: 1 }, limit: max } as const;
      const found = await users.find({ 'former_emails.until': { $lte: by } }, options).toArray();
      return found.map(({ _id, former_emails = [] }) => ({
        userId: _id,
        former: former_emails.filter(({ until }) => until <= by),
      }));
    },
    async removeFormer({ userId, former }) {
      const isRemoved = { $in: ['$$this.change_id', former.map(({ change_id }) => change_id)] };
      const former_emails = { $filter: { input: { $ifNull: ['$former_emails', []] }, cond: { $not: isRemoved } } };
      const orNothing = { $cond: [{ $eq: ['$former_emails', []] }, '$$REMOVE', '$former_emails'] };
      await users.updateOne({ _id: userId }, [{ $set: { former_emails } }, { $set: { former_emails: orNothing } }]);
    },
    async removeLapsedPending(by) {
      await users.updateMany({ pending_email_until: { $lte: by } }, { $unset: pending });
    },
  };
}
