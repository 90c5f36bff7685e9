import type { ClientSession, Filter } from 'mongodb';
import type { Collections } from './collections.ts';
import type { FormerEmail, UserDocument } from './documents.ts';
import { type Credentials, emailKey, holderOf } from './user-store.ts';

/** The account that has an address, or had it so recently that it can get it back. */
export type EmailHolder = Pick<UserDocument, '_id' | 'email_key' | 'locale'>;

/** A change of the address that was confirmed. */
export interface EmailChange {
  readonly email: string;
  /** The address before it, and until when the change can be undone. */
  readonly former: FormerEmail;
  readonly at: Date;
}

/** The return to a former address. No password fits the new hash. */
export interface EmailUndo {
  readonly former: FormerEmail;
  readonly password_hash: string;
  readonly at: Date;
}

/**
 * Changes of accounts' e-mail addresses. Each writes the user's document, like every login, so that neither misses the
 * other; each fails if the address or the password was changed since the document was read.
 */
export interface EmailChangeStore {
  /** Returns the account that has the address at `now`, or can still undo the change away from it. */
  findHolder(email: string, now: Date, session?: ClientSession): Promise<EmailHolder | undefined>;
  /** Notes the address that the account is to have, until that time; false if the document has changed. */
  request(seen: Credentials, email: string, until: Date, session: ClientSession): Promise<boolean>;
  /**
   * Changes the address; false if the document has changed, or another change is under way. Throws the driver's
   * duplicate-key error (`email_key_unique`) if another account has it.
   */
  change(seen: UserDocument, change: EmailChange, session: ClientSession): Promise<boolean>;
  /** Returns the account whose change that is, whether or not it can still be undone. */
  findByChange(changeId: string): Promise<UserDocument | undefined>;
  /**
   * Gives the account a former address back, and forgets that change and all after it; false if the document has
   * changed. Throws the duplicate-key error too.
   */
  undo(seen: UserDocument, undo: EmailUndo, session: ClientSession): Promise<boolean>;
}

export function createEmailChangeStore({ users }: Collections): EmailChangeStore {
  const isChanged = async (filter: Filter<UserDocument>, fields: Partial<UserDocument>, session: ClientSession) => {
    const pending = { pending_email: true, pending_email_until: true } as const;
    const update = { $set: fields, $unset: pending, $inc: { touches: 1 } };
    return (await users.updateOne(filter, update, { session })).matchedCount === 1;
  };
  return {
    async findHolder(email, now, session) {
      const options = { projection: { email_key: 1, locale: 1 }, ...(session && { session }) } as const;
      return (await users.findOne<EmailHolder>(holderOf(email, now), options)) ?? undefined;
    },
    async request(seen, email, until, session) {
      const update = { $set: { pending_email: email, pending_email_until: until }, $inc: { touches: 1 } };
      return (await users.updateOne(unchanged(seen), update, { session })).matchedCount === 1;
    },
    change(seen, { email, former, at }, session) {
      const kept = (seen.former_emails ?? []).filter(({ until }) => until > at);
      const fields = { email, email_key: emailKey(email), email_verified_at: at, former_emails: [...kept, former] };
      return isChanged({ ...unchanged(seen), pending_email: email }, fields, session);
    },
    async findByChange(changeId) {
      return (await users.findOne({ 'former_emails.change_id': changeId })) ?? undefined;
    },
    undo(seen, { former, password_hash, at }, session) {
      const earlier = (seen.former_emails ?? []).slice(
        0,
        seen.former_emails?.findIndex(({ change_id }) => change_id === former.change_id),
      );
      const { email, email_key } = former;
      const address = { email, email_key, email_verified_at: at, former_emails: earlier };
      return isChanged(unchanged(seen), { ...address, password_hash, password_changed_at: at }, session);
    },
  };
}

function unchanged({ _id, email_key, password_changed_at }: Credentials): Filter<UserDocument> {
  return { _id, email_key, password_changed_at: password_changed_at ?? { $exists: false } };
}
