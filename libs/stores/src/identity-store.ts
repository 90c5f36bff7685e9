import type { ClientSession, Filter } from 'mongodb';
import type { Collections } from './collections.ts';
import { nextChangeOfWays, unchangedSince } from './credentials.ts';
import type { IdentityDocument, SealedRefreshToken, UserDocument } from './documents.ts';
import { addRevocations, type StoredToken } from './provider-revocation-store.ts';

/** The part of an identity that names a person. */
export type IdentityKey = Pick<IdentityDocument, 'provider' | 'sub'>;

/** Changes of an identity that follow from a notice of its provider. */
export interface IdentityMarks {
  readonly set?: Pick<IdentityDocument, 'relay_off_at' | 'disabled_at' | 'noticed_at'>;
  readonly unset?: readonly ('refresh_token' | 'relay_off_at' | 'disabled_at')[];
  /** True if challenges end that a login by the identity has begun, as with every change of a way in. */
  readonly endsChallenges?: boolean;
}

/**
 * Identities at providers, which are in the documents of their accounts. To add or remove one conflicts with a concurrent
 * login, and fails if a way in or the address was changed since the document was read.
 */
export interface IdentityStore {
  /** Returns the account that has the identity. */
  findHolder(key: IdentityKey): Promise<UserDocument | undefined>;
  /** Throws the driver's duplicate-key error (`identity_unique`) if another account has the identity. */
  add(seen: UserDocument, identity: IdentityDocument, at: Date, session: ClientSession): Promise<boolean>;
  /** Its token, if there is one, waits for its revocation. */
  remove(seen: UserDocument, identityId: string, at: Date, session: ClientSession): Promise<boolean>;
  /**
   * Sets and removes fields of an identity; false if the account does not have it. Conflicts with a concurrent login.
   */
  mark(
    seen: UserDocument,
    identityId: string,
    marks: IdentityMarks,
    at: Date,
    session: ClientSession,
  ): Promise<boolean>;
  /** Returns tokens that are sealed under none of these keys, of some accounts. */
  listStale(kids: readonly string[], page: { readonly skip: number; readonly limit: number }): Promise<StoredToken[]>;
  /** Replaces the sealed form of a token, unless it has been replaced since it was read. */
  reseal(stored: StoredToken, by: Pick<StoredToken, 'kid' | 'token'>): Promise<void>;
  /** Stores the token of an identity that has none; otherwise returns false. */
  keepToken(userId: string, identityId: string, token: SealedRefreshToken): Promise<boolean>;
  /** Returns true if the account has this identity. Reads with majority concern, so the result can't be rolled back. */
  has(userId: string, identityId: string): Promise<boolean>;
}

export function createIdentityStore(collections: Collections): IdentityStore {
  const { users } = collections;
  return {
    async findHolder({ provider, sub }) {
      return (await users.findOne({ identities: { $elemMatch: { provider, sub } } })) ?? undefined;
    },
    async add(seen, identity, at, session) {
      const update = { $set: wayFields(seen, at), $push: { identities: identity }, $inc: { touches: 1 } };
      return (await users.updateOne(unchangedSince(seen), update, { session })).matchedCount === 1;
    },
    async remove(seen, id, at, session) {
      const update = { $set: wayFields(seen, at), $pull: { identities: { id } }, $inc: { touches: 1 } };
      const options = { session, returnDocument: 'before', projection: { identities: 1 } } as const;
      const before = await users.findOneAndUpdate(unchangedSince(seen), update, options);
      const identities = before?.identities?.filter((each) => each.id === id) ?? [];
      await addRevocations(collections, { userId: seen._id, identities, at }, session);
      return before !== null;
    },
    async keepToken(_id, id, token) {
      const without = { _id, identities: { $elemMatch: { id, refresh_token: { $exists: false } } } };
      return (await users.updateOne(without, { $set: { 'identities.$.refresh_token': token } })).matchedCount === 1;
    },
    async mark(seen, id, { set = {}, unset = [], endsChallenges = false }, at, session) {
      const named = (fields: object) =>
        Object.fromEntries(Object.entries(fields).map(([field, value]) => [`identities.$.${field}`, value]));
      const gone = named(Object.fromEntries(unset.map((field) => [field, true])));
      const fields = { ...named(set), ...(endsChallenges && wayFields(seen, at)) };
      const update = {
        $inc: { touches: 1 },
        ...(Object.keys(fields).length > 0 && { $set: fields }),
        ...(unset.length > 0 && { $unset: gone }),
      };
      const same = { ...unchangedSince(seen), 'identities.id': id };
      return (await users.updateOne(same, update, { session })).matchedCount === 1;
    },
    async listStale(kids, { skip, limit }) {
      const options = { projection: { identities: 1 }, skip, limit } as const;
      const filter = { identities: { $elemMatch: { 'refresh_token.kid': { $exists: true, $nin: [...kids] } } } };
      const found = await users.find(filter, options).toArray();
      return found.flatMap(({ _id: userId, identities = [] }) =>
        identities.flatMap(({ id: identityId, refresh_token }) =>
          refresh_token === undefined || kids.includes(refresh_token.kid)
            ? []
            : [{ userId, identityId, kid: refresh_token.kid, token: refresh_token.token }],
        ),
      );
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

/** Returns the fields that every change of the identities writes: the time, and a change of the address that lapses. */
function wayFields(seen: UserDocument, at: Date): Pick<UserDocument, 'ways_changed_at' | 'pending_email_until'> {
  const { pending_email_until } = seen;
  return { ways_changed_at: nextChangeOfWays(seen, at), ...(pending_email_until && { pending_email_until: at }) };
}
