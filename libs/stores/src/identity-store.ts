import type { ClientSession, Filter } from 'mongodb';
import type { Collections } from './collections.ts';
import { nextChangeOfWays, unchangedSince } from './credentials.ts';
import type { IdentityDocument, UserDocument } from './documents.ts';

/** The part of an identity that names a person. */
export type IdentityKey = Pick<IdentityDocument, 'provider' | 'sub'>;

/**
 * Identities at providers, which are in the documents of their accounts. To add or remove one conflicts with a concurrent
 * login, and fails if a way in or the address was changed since the document was read.
 */
export interface IdentityStore {
  /** Returns the account that has the identity. */
  findHolder(key: IdentityKey): Promise<UserDocument | undefined>;
  /** Throws the driver's duplicate-key error (`identity_unique`) if another account has the identity. */
  add(seen: UserDocument, identity: IdentityDocument, at: Date, session: ClientSession): Promise<boolean>;
  remove(seen: UserDocument, identityId: string, at: Date, session: ClientSession): Promise<boolean>;
  /** Returns true if the account has this identity. Reads with majority concern, so the result can't be rolled back. */
  has(userId: string, identityId: string): Promise<boolean>;
}

export function createIdentityStore({ users }: Collections): IdentityStore {
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
      return (await users.updateOne(unchangedSince(seen), update, { session })).matchedCount === 1;
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
