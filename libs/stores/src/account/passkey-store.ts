import type { Binary, ClientSession, Filter } from 'mongodb';
import type { PasskeyDocument, UserDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import { confirmedRead } from '../mongo/fenced-sessions.ts';
import { nextChangeOfMethods, unchangedSince } from './credentials.ts';
import { type PresentUser, presentUser } from './present-user.ts';

/** State of a passkey after a use. */
export type PasskeyUse = Pick<PasskeyDocument, 'counter' | 'is_backup_eligible' | 'is_backed_up'> & {
  readonly at: Date;
};

/**
 * Fields that every change of the passkeys writes: the time, and a requested change of the email address that lapses.
 */
type SignInMethodFields = Pick<UserDocument, 'ways_changed_at' | 'pending_email_until'>;

/**
 * Passkeys, which are in the documents of their accounts. To add or remove one conflicts with a concurrent login, and
 * fails if a sign-in method, the email address or the passkeys were changed since the document was read.
 */
export interface PasskeyStore {
  /** Returns the account that has the passkey. */
  findHolder(credentialId: string): Promise<PresentUser | undefined>;
  /** Like `findHolder`, but from a state that can't be rolled back: see {@link confirmedRead}. */
  findHolderConfirmed(credentialId: string): Promise<PresentUser | undefined>;
  /** Throws the driver's duplicate-key error (`passkey_unique`) if another account has the passkey. */
  add(
    seen: UserDocument,
    added: { readonly passkey: PasskeyDocument; readonly userHandle: Binary; readonly at: Date },
    session: ClientSession,
  ): Promise<boolean>;
  remove(seen: UserDocument, passkeyId: string, at: Date, session: ClientSession): Promise<boolean>;
  /** Returns true if the account has this passkey. Reads with majority concern, so the result can't be rolled back. */
  has(userId: string, passkeyId: string): Promise<boolean>;
  /**
   * Writes the state after a use, but no lower counter. Returns the passkey as it was before, in this transaction;
   * undefined if the account no longer has it.
   */
  noteUse(
    userId: string,
    passkeyId: string,
    use: PasskeyUse,
    session: ClientSession,
  ): Promise<PasskeyDocument | undefined>;
  /** Returns the passkey after the change; undefined if the account has no such passkey. */
  rename(
    userId: string,
    passkeyId: string,
    name: string | null,
    session: ClientSession,
  ): Promise<PasskeyDocument | undefined>;
}

export function createPasskeyStore({ users }: Collections, now: () => Date): PasskeyStore {
  const holderOf = (credentialId: string) => ({ 'passkeys.credential_id': credentialId });
  return {
    async findHolder(credentialId) {
      return presentUser(await users.findOne(holderOf(credentialId)), now());
    },
    async findHolderConfirmed(credentialId) {
      return presentUser(await users.findOne(holderOf(credentialId), confirmedRead), now());
    },
    async add(seen, { passkey, userHandle, at }, session) {
      const $set = { ...signInMethodFields(seen, at), user_handle: userHandle };
      const update = { $set, $push: { passkeys: passkey }, $inc: { touches: 1 } };
      return (await users.updateOne(sameSignInMethods(seen), update, { session })).matchedCount === 1;
    },
    async remove(seen, passkeyId, at, session) {
      const update = {
        $set: signInMethodFields(seen, at),
        $pull: { passkeys: { id: passkeyId } },
        $inc: { touches: 1 },
      };
      return (await users.updateOne(sameSignInMethods(seen), update, { session })).matchedCount === 1;
    },
    async has(userId, passkeyId) {
      const options = { projection: { _id: 1 }, readConcern: { level: 'majority' } } as const;
      return (await users.findOne({ _id: userId, 'passkeys.id': passkeyId }, options)) !== null;
    },
    async noteUse(userId, passkeyId, { counter, is_backup_eligible, is_backed_up, at }, session) {
      const filter = { _id: userId, 'passkeys.id': passkeyId };
      // A simultaneous use may have gained it.
      const gained = is_backup_eligible && { 'passkeys.$.is_backup_eligible': true };
      const $set = { ...gained, 'passkeys.$.is_backed_up': is_backed_up, 'passkeys.$.last_used_at': at };
      const update = { $set, $max: { 'passkeys.$.counter': counter } };
      const options = { session, returnDocument: 'before', projection: { passkeys: 1 } } as const;
      const before = await users.findOneAndUpdate(filter, update, options);
      return before?.passkeys?.find(({ id }) => id === passkeyId);
    },
    async rename(userId, passkeyId, name, session) {
      const filter = { _id: userId, 'passkeys.id': passkeyId };
      const options = { session, returnDocument: 'after', projection: { passkeys: 1 } } as const;
      const user = await users.findOneAndUpdate(filter, { $set: { 'passkeys.$.name': name } }, options);
      return user?.passkeys?.find(({ id }) => id === passkeyId);
    },
  };
}

/** Filter for the account, if it has the same sign-in methods and as many passkeys as when it was read. */
function sameSignInMethods(seen: UserDocument): Filter<UserDocument> {
  const passkeys = seen.passkeys === undefined ? { $exists: false } : { $size: seen.passkeys.length };
  return { ...unchangedSince(seen), passkeys };
}

function signInMethodFields(seen: UserDocument, at: Date): SignInMethodFields {
  const { pending_email_until } = seen;
  return {
    ways_changed_at: nextChangeOfMethods(seen, at),
    ...(pending_email_until && { pending_email_until: at }),
  };
}
