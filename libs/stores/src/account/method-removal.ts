import type { ClientSession, Filter, UpdateFilter } from 'mongodb';
import type { IdentityDocument, PasskeyDocument, UserDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import { addRevocations } from './provider-revocation-store.ts';

/** The lists of sign-in methods besides the password. Methods leave them only by {@link updateAndRemove}. */
export type SignInMethodList = 'passkeys' | 'identities';

/** Fields that a change of the account writes. The lists of sign-in methods have writes of their own. */
export type ChangedFields = Partial<Omit<UserDocument, SignInMethodList>> & {
  readonly [L in SignInMethodList]?: never;
};

/** For each list, the methods that go: those that were added at a time or after it, or the one of an id. */
export type MethodsToRemove = { readonly [L in SignInMethodList]?: Date | string };

/** Sign-in methods that one write has removed. */
export interface RemovedMethods {
  readonly passkeys: readonly PasskeyDocument[];
  readonly identities: readonly IdentityDocument[];
}

/** A time for {@link MethodsToRemove} before which no sign-in method was added. */
export const everAdded = new Date(0);

/** An update that takes nothing out of a list itself. */
type UserUpdate = Omit<UpdateFilter<UserDocument>, '$pull'> & {
  readonly $pull?: { readonly [F in Exclude<keyof UserDocument, SignInMethodList>]?: object };
};

/**
 * Updates the account if it matches the filter, and removes sign-in methods. Returns the removed ones as this write has
 * found them, because a token of a provider may have been stored, or an identity given up, since the account was read.
 * In the same transaction the tokens of removed identities begin to wait for their revocation. Returns undefined if no
 * account matches.
 */
export async function updateAndRemove(
  collections: Pick<Collections, 'users' | 'providerRevocations'>,
  filter: Filter<UserDocument>,
  { $pull, ...update }: UserUpdate,
  { signInMethods, at }: { readonly signInMethods: MethodsToRemove; readonly at: Date },
  session: ClientSession,
): Promise<RemovedMethods | undefined> {
  const pulled = Object.entries(signInMethods).map(([list, which]) => [list, conditionOf(which)]);
  const all = { ...$pull, ...Object.fromEntries(pulled) };
  const options = { session, returnDocument: 'before', projection: { passkeys: 1, identities: 1 } } as const;
  const pulling = Object.keys(all).length > 0 ? { ...update, $pull: all } : update;
  const before = await collections.users.findOneAndUpdate(filter, pulling, options);
  if (before === null) return;
  const { _id: userId, passkeys = [], identities = [] } = before;
  const removed = {
    passkeys: removedOf(passkeys, signInMethods.passkeys),
    identities: removedOf(identities, signInMethods.identities),
  };
  await addRevocations(collections, { userId, identities: removed.identities, at }, session);
  return removed;
}

function conditionOf(which: Date | string): object {
  return which instanceof Date ? { created_at: { $gte: which } } : { id: which };
}

function removedOf<W extends { readonly id: string; readonly created_at: Date }>(
  signInMethods: readonly W[],
  which: Date | string | undefined,
): readonly W[] {
  return signInMethods.filter(({ id, created_at }) => (which instanceof Date ? created_at >= which : id === which));
}
