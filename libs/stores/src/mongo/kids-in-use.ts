import type { Collections } from './collections.ts';

/** Stored data that a server key has sealed, by kind. */
export interface KidInUse {
  readonly kind: 'seeds' | 'provider tokens' | 'tokens to revoke';
  readonly kid: string;
  readonly count: number;
}

/**
 * Counts what depends on server keys other than these, by kind and key. Every kind has an index of its keys. Codes are
 * left out, because they count for ten minutes, and so is what names no key, such as idempotency records.
 */
export async function countKidsInUse(
  { users, providerRevocations }: Collections,
  except: readonly string[] = [],
): Promise<KidInUse[]> {
  const kinds = [
    ['seeds', users, 'totp.kid'],
    ['provider tokens', users, 'identities.refresh_token.kid'],
    ['tokens to revoke', providerRevocations, 'kid'],
  ] as const;
  const counts = kinds.map(async ([kind, collection, field]) => {
    const named = { [field]: { $exists: true, $nin: [...except] } };
    const [list] = field.split('.');
    const stages = field.startsWith('identities') ? [{ $unwind: `$${list}` }, { $match: named }] : [];
    const group = { $group: { _id: `$${field}`, count: { $sum: 1 } } };
    const found = collection.aggregate<{ _id: string; count: number }>([{ $match: named }, ...stages, group]);
    return (await found.toArray()).map(({ _id: kid, count }) => ({ kind, kid, count }));
  });
  return (await Promise.all(counts)).flat();
}
