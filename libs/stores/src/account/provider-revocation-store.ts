import type { Binary, ClientSession } from 'mongodb';
import type { IdentityDocument, ProviderRevocationDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';

/** A provider's token as it is stored. */
export interface StoredToken {
  readonly userId: string;
  readonly identityId: string;
  /** Server key that seals the token. */
  readonly kid: string;
  readonly token: Binary;
}

/**
 * Refresh tokens of identities that are gone, until their providers have revoked them. Each is kept by the write that
 * removes its identity, or that finds it gone.
 */
export interface ProviderRevocationStore {
  /** Returns the token that has been due for longest, none of these providers', so that no other worker takes it until then. */
  claim(now: Date, until: Date, except: readonly string[]): Promise<ProviderRevocationDocument | undefined>;
  /** Sets the time of the next attempt. */
  defer(identityId: string, due: Date): Promise<void>;
  remove(identityId: string): Promise<void>;
  /** Returns the number of tokens that wait. After a crash of MongoDB it may be wrong for a while. */
  count(): Promise<number>;
  /** Yields each token that is sealed under none of these keys, once, also while they are sealed again. */
  listStale(kids: readonly string[]): AsyncIterable<StoredToken>;
  /** Replaces the sealed form of a token, unless it has been replaced since it was read. */
  reseal(stored: StoredToken, by: Pick<StoredToken, 'kid' | 'token'>): Promise<void>;
}

export function createProviderRevocationStore({ providerRevocations: rows }: Collections): ProviderRevocationStore {
  return {
    async claim(now, until, except) {
      const due = { due_at: { $lte: now }, provider: { $nin: [...except] } };
      const update = { $set: { due_at: until }, $inc: { attempts: 1 } };
      const options = { sort: { due_at: 1 }, returnDocument: 'after' } as const;
      return (await rows.findOneAndUpdate(due, update, options)) ?? undefined;
    },
    async defer(_id, due_at) {
      await rows.updateOne({ _id }, { $set: { due_at } });
    },
    async remove(_id) {
      await rows.deleteOne({ _id });
    },
    count: () => rows.estimatedDocumentCount(),
    async *listStale(kids) {
      for await (const { _id, user_id, kid, token } of rows.find({ kid: { $nin: [...kids] } }, { batchSize: 100 })) {
        yield { userId: user_id, identityId: _id, kid, token };
      }
    },
    async reseal({ identityId: _id, kid: from }, { kid, token }) {
      await rows.updateOne({ _id, kid: from }, { $set: { kid, token } });
    },
  };
}

/** Identities that are removed from an account. */
export interface RemovedIdentities {
  readonly userId: string;
  readonly identities: readonly IdentityDocument[];
  readonly at: Date;
}

/** Keeps the tokens of identities that the same transaction has removed. Writes nothing if they have none. */
export async function addRevocations(
  { providerRevocations }: Pick<Collections, 'providerRevocations'>,
  { userId: user_id, identities, at }: RemovedIdentities,
  session: ClientSession,
): Promise<void> {
  const rows = identities.flatMap((identity) => rowsOf(user_id, identity, at));
  if (rows.length > 0) await providerRevocations.insertMany(rows, { session });
}

/** Keeps the token of an identity that was removed before, unless a token of it waits already. */
export async function keepRevocation(
  { providerRevocations }: Pick<Collections, 'providerRevocations'>,
  { userId, identity, at }: Omit<RemovedIdentities, 'identities'> & { readonly identity: IdentityDocument },
): Promise<void> {
  for (const { _id, ...row } of rowsOf(userId, identity, at)) {
    await providerRevocations.updateOne({ _id }, { $setOnInsert: row }, { upsert: true });
  }
}

function rowsOf(
  user_id: string,
  { id: _id, provider, refresh_token }: IdentityDocument,
  at: Date,
): ProviderRevocationDocument[] {
  if (refresh_token === undefined) return [];
  return [{ _id, user_id, provider, ...refresh_token, created_at: at, due_at: at, attempts: 0 }];
}
