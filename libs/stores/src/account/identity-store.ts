import type { ClientSession, Filter } from 'mongodb';
import type { IdentityDocument, SealedRefreshToken, UserDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import { nextChangeOfMethods, unchangedSince } from './credentials.ts';
import { updateAndRemove } from './method-removal.ts';
import { type PresentUser, presentUser } from './present-user.ts';
import { keepRevocation, type StoredToken } from './provider-revocation-store.ts';

/** The part of an identity that names a person. */
export type IdentityKey = Pick<IdentityDocument, 'provider' | 'sub'>;

/** Changes of an identity that follow from a security event of its provider. */
export interface IdentityMarks {
  readonly set: Pick<IdentityDocument, 'relay_off_at' | 'disabled_at' | 'noticed_at' | 'ended_at' | 'notices'>;
  readonly unset?: readonly ('refresh_token' | 'relay_off_at' | 'disabled_at')[];
}

/** An identity, and the account that has it. */
export interface HeldIdentity {
  readonly userId: string;
  readonly identity: IdentityDocument;
}

/**
 * Identities at providers, which are in the documents of their accounts. To add or remove one conflicts with a
 * concurrent login, and fails if a sign-in method or the email address was changed since the document was read.
 */
export interface IdentityStore {
  /** Returns the account that has the identity. */
  findHolder(key: IdentityKey, session?: ClientSession): Promise<PresentUser | undefined>;
  /** Throws the driver's duplicate-key error (`identity_unique`) if another account has the identity. */
  add(seen: UserDocument, identity: IdentityDocument, at: Date, session: ClientSession): Promise<boolean>;
  /** Its token, if there is one, waits for its revocation. */
  remove(seen: UserDocument, identityId: string, at: Date, session: ClientSession): Promise<boolean>;
  /**
   * Sets and removes fields of an identity that the transaction has read. Conflicts with a concurrent login. What other
   * sign-in methods have begun counts on. `endsTrust`: the trust in devices ends that a login by the identity has
   * begun.
   */
  mark(of: HeldIdentity, marks: IdentityMarks, endsTrust: boolean, session: ClientSession): Promise<void>;
  /** Removes an identity that its provider has given up, in the same way. Its token waits for its revocation. */
  giveUp(of: HeldIdentity, at: Date, session: ClientSession): Promise<void>;
  /** Yields each token that is sealed under none of these keys, once, also while they are sealed again. */
  listStale(kids: readonly string[]): AsyncIterable<StoredToken>;
  /** Replaces the sealed form of a token, unless it has been replaced since it was read. */
  reseal(stored: StoredToken, by: Pick<StoredToken, 'kid' | 'token'>): Promise<void>;
  /**
   * Stores the token of an identity, unless it has one. If the identity is gone, the token waits for its revocation:
   * whatever has removed the identity did not see this token.
   */
  keepToken(of: HeldIdentity, token: SealedRefreshToken, at: Date): Promise<'kept' | 'has_one' | 'gone'>;
  /** Returns true if the account has this identity. Reads with majority concern, so the result can't be rolled back. */
  has(userId: string, identityId: string): Promise<boolean>;
}

export function createIdentityStore(collections: Collections, now: () => Date): IdentityStore {
  const { users } = collections;
  return {
    async findHolder({ provider, sub }, session) {
      const filter = { identities: { $elemMatch: { provider, sub } } };
      return presentUser(await users.findOne(filter, session ? { session } : {}), now());
    },
    async add(seen, identity, at, session) {
      const update = { $set: signInMethodFields(seen, at), $push: { identities: identity }, $inc: { touches: 1 } };
      return (await users.updateOne(unchangedSince(seen), update, { session })).matchedCount === 1;
    },
    async remove(seen, id, at, session) {
      const update = { $set: signInMethodFields(seen, at), $inc: { touches: 1 } };
      const removed = { signInMethods: { identities: id }, at };
      return (await updateAndRemove(collections, unchangedSince(seen), update, removed, session)) !== undefined;
    },
    async keepToken({ userId: _id, identity }, refresh_token, at) {
      const { id } = identity;
      const without = { _id, identities: { $elemMatch: { id, refresh_token: { $exists: false } } } };
      const { matchedCount } = await users.updateOne(without, {
        $set: { 'identities.$.refresh_token': refresh_token },
      });
      if (matchedCount === 1) return 'kept';
      const held = await users.findOne({ _id, 'identities.id': id }, { projection: { _id: 1 } });
      if (held !== null) return 'has_one';
      await keepRevocation(collections, { userId: _id, identity: { ...identity, refresh_token }, at });
      return 'gone';
    },
    async mark({ userId: _id, identity: { id } }, { set, unset = [] }, endsTrust, session) {
      const named = (fields: object) =>
        Object.fromEntries(Object.entries(fields).map(([field, value]) => [`identities.$.${field}`, value]));
      const update = {
        $inc: { touches: 1 },
        $set: named(set),
        ...(unset.length > 0 && { $unset: named(Object.fromEntries(unset.map((field) => [field, true]))) }),
        ...(endsTrust && { $pull: trustOf(id) }),
      };
      await users.updateOne({ _id, 'identities.id': id }, update, { session });
    },
    async giveUp({ userId: _id, identity }, at, session) {
      const update = { $pull: trustOf(identity.id), $inc: { touches: 1 } };
      await updateAndRemove(collections, { _id }, update, { signInMethods: { identities: identity.id }, at }, session);
    },
    async *listStale(kids) {
      const options = { projection: { identities: 1 }, batchSize: 100 } as const;
      const filter = { identities: { $elemMatch: { 'refresh_token.kid': { $exists: true, $nin: [...kids] } } } };
      for await (const { _id: userId, identities = [] } of users.find(filter, options)) {
        for (const { id: identityId, refresh_token } of identities) {
          if (refresh_token === undefined || kids.includes(refresh_token.kid)) continue;
          yield { userId, identityId, kid: refresh_token.kid, token: refresh_token.token };
        }
      }
    },
    async reseal({ userId: _id, identityId: id, kid: from }, { kid, token }) {
      const same = { _id, identities: { $elemMatch: { id, 'refresh_token.kid': from } } };
      const fields = { 'identities.$.refresh_token.kid': kid, 'identities.$.refresh_token.token': token };
      await users.updateOne(same, { $set: fields });
    },
    async has(userId, id) {
      const options = { projection: { _id: 1 }, readConcern: { level: 'majority' } } as const;
      const filter: Filter<UserDocument> = { _id: userId, 'identities.id': id };
      return (await users.findOne(filter, options)) !== null;
    },
  };
}

/** Returns the trust in devices that a login by the identity has begun, as an update removes it. */
const trustOf = (identity_id: string) => ({ trusted_devices: { identity_id } });

/**
 * Returns the fields that every change of the identities writes: the time, and a change of the email address that
 * lapses.
 */
function signInMethodFields(
  seen: UserDocument,
  at: Date,
): Pick<UserDocument, 'ways_changed_at' | 'pending_email_until'> {
  const { pending_email_until } = seen;
  return {
    ways_changed_at: nextChangeOfMethods(seen, at),
    ...(pending_email_until && { pending_email_until: at }),
  };
}
