import { urgentTopic } from '@auth-account/contracts/events';
import type { Db, IndexDescription, IndexDescriptionInfo } from 'mongodb';
import { collectionsOf } from './collections.ts';
import { isDuplicateKey, isStoreUnavailable } from './store-errors.ts';

const daySeconds = 24 * 60 * 60;

export interface IndexSettings {
  /** Retention of delivered outbox rows, in seconds. */
  readonly outboxRetentionSeconds?: number;
}

type NamedIndex = IndexDescription & { readonly name: string };
type Index = readonly [NamedIndex['key'], Omit<NamedIndex, 'key'>];

/** Name of the index that sets the retention of delivered outbox rows. */
export const outboxTtl = 'delivered_ttl';

const indexes = {
  users: [
    [{ email_key: 1 }, { name: 'email_key_unique', unique: true }],
    [{ home_group_id: 1, joined_at: 1, _id: 1 }, { name: 'group_members_by_age' }],
    // Passkeys. The index holds only accounts that have passkeys.
    [{ 'passkeys.credential_id': 1 }, { name: 'passkey_unique', unique: true, sparse: true }],
    // Identities at providers. The index holds only accounts that have identities.
    [
      { 'identities.sub': 1, 'identities.provider': 1 },
      { name: 'identity_unique', unique: true, sparse: true },
    ],
    // Accounts about to be deleted. The index holds no other accounts, so registrations and logins don't write it.
    [{ deletes_at: 1 }, { name: 'deletion_due', sparse: true }],
    // Former email addresses to which a change can be undone. These indexes hold only the few accounts that have such
    // addresses.
    [{ 'former_emails.email_key': 1 }, { name: 'former_email', sparse: true }],
    [{ 'former_emails.change_id': 1 }, { name: 'email_change', sparse: true }],
    // Requested email addresses, which are removed when they have lapsed.
    [{ 'former_emails.until': 1 }, { name: 'former_email_lapse', sparse: true }],
    [{ pending_email_until: 1 }, { name: 'pending_email_lapse', sparse: true }],
    // Seeds of authenticator apps by their server key, and apps that must still be confirmed.
    [{ 'totp.kid': 1 }, { name: 'totp_key', sparse: true }],
    // Tokens of providers by their server key.
    [{ 'identities.refresh_token.kid': 1 }, { name: 'identity_token_key', sparse: true }],
    [{ 'pending_totp.until': 1 }, { name: 'pending_totp_lapse', sparse: true }],
    // Ordered removals of second factors, by their time and by the order that a stop token names.
    [{ 'totp.removal.due_at': 1 }, { name: 'factor_removal_due', sparse: true }],
    [{ 'totp.removal.id': 1 }, { name: 'factor_removal', sparse: true }],
  ],
  groups: [
    [{ import_key: 1 }, { name: 'import_key_unique', unique: true, sparse: true }],
    // Closed groups, which are removed because they have no members. Open groups are not in the index, so registrations
    // don't write it.
    [
      { closed_at: 1 },
      {
        name: 'closed_ttl',
        expireAfterSeconds: 30 * daySeconds,
        partialFilterExpression: { closed_at: { $type: 'date' } },
      },
    ],
  ],
  invites: [
    [{ home_group_id: 1, created_at: -1 }, { name: 'group_invites' }],
    // All invites that a user has created, for the export and the erasure.
    [{ created_by: 1, created_at: -1 }, { name: 'invites_of_maker' }],
    // Invites that may still be good, however many were revoked. The transaction that creates an invite counts them.
    [
      { home_group_id: 1, expires_at: 1 },
      { name: 'group_open_invites', partialFilterExpression: { revoked_at: null } },
    ],
    // Invites that one user has created, in any group.
    [
      { created_by: 1, expires_at: 1 },
      { name: 'own_open_invites', partialFilterExpression: { revoked_at: null } },
    ],
    // An invite ends at its expiry or earlier, so its tombstone stays for at least 30 days.
    [{ expires_at: 1 }, { name: 'tombstone_ttl', expireAfterSeconds: 30 * daySeconds }],
  ],
  sessions: [
    // Allows one live session per user and device, and serves the list of a user's live sessions.
    [
      { user_id: 1, device_id: 1 },
      { name: 'live_device_unique', unique: true, partialFilterExpression: { is_revoked: false } },
    ],
    // Recent revocations. The worker publishes them until it knows that Redis has them.
    [{ revoked_at: 1 }, { name: 'revoked_at', partialFilterExpression: { is_revoked: true } }],
    // A user's ended sessions, for the export and the erasure. Logins don't write this index.
    [
      { user_id: 1, revoked_at: -1 },
      { name: 'revoked_of_user', partialFilterExpression: { is_revoked: true } },
    ],
    // Recent changes of claims, which the worker publishes in the same way.
    [{ claims_changed_at: 1 }, { name: 'claims_changed_at', sparse: true }],
    // A revoked session stays until its tokens would have expired anyway, because its document marks them as revoked.
    [{ absolute_expires_at: 1 }, { name: 'absolute_expiry_ttl', expireAfterSeconds: daySeconds }],
  ],
  erasedSessions: [
    // Serves the same purpose as the index `revoked_at` of the sessions.
    [{ revoked_at: 1 }, { name: 'revoked_at' }],
    [{ purge_at: 1 }, { name: 'purge_ttl', expireAfterSeconds: 0 }],
  ],
  idempotency: [
    [{ expires_at: 1 }, { name: 'expiry_ttl', expireAfterSeconds: 0 }],
    [{ user_id: 1 }, { name: 'user', sparse: true }],
  ],
  challenges: [
    // All challenges of a user, to end them and to erase them. The limits on code requests keep their number low.
    [{ user_id: 1 }, { name: 'user' }],
    [{ purge_at: 1 }, { name: 'purge_ttl', expireAfterSeconds: 0 }],
  ],
  consumedProofs: [[{ purge_at: 1 }, { name: 'purge_ttl', expireAfterSeconds: 0 }]],
  providerRevocations: [
    [{ due_at: 1 }, { name: 'due' }],
    [{ kid: 1 }, { name: 'key' }],
  ],
  outbox: [
    [{ locked_until: 1 }, { name: 'pending', partialFilterExpression: { state: 'pending' } }],
    // Only the urgent rows that wait.
    [
      { topic: 1, locked_until: 1 },
      { name: 'pending_urgent', partialFilterExpression: { state: 'pending', topic: urgentTopic } },
    ],
    // Number and age of waiting rows. The query reads only the index.
    [
      { state: 1, created_at: 1 },
      { name: 'pending_since', partialFilterExpression: { state: 'pending' } },
    ],
    // Only rows that wait for capacity in a queue.
    [
      { 'held.for': 1 },
      { name: 'held_for', partialFilterExpression: { state: 'pending', 'held.for': { $exists: true } } },
    ],
    [
      { 'held.until': 1 },
      { name: 'held_until', partialFilterExpression: { state: 'pending', 'held.until': { $exists: true } } },
    ],
    [{ 'event.requestid': 1 }, { name: 'request' }],
    // A user's events, newest first, for the support desk: 115 bytes for a row, and less CPU than can be measured.
    [{ 'event.subject': 1, _id: -1 }, { name: 'events_of_user' }],
    // Also holds the rows that wait, at 5 µs of MongoDB's CPU for a row's life. That is not worth a new index under load.
    [{ delivered_at: 1 }, { name: outboxTtl, expireAfterSeconds: 7 * daySeconds }],
  ],
  deadLetters: [
    [{ created_at: 1, _id: 1 }, { name: 'by_time' }],
    [{ subscriber: 1, created_at: 1, _id: 1 }, { name: 'by_subscriber' }],
    [{ event_id: 1 }, { name: 'by_event' }],
  ],
  subscribers: [],
  upgrades: [],
} as const satisfies Record<keyof ReturnType<typeof collectionsOf>, readonly Index[]>;

/**
 * Creates every collection and index that is missing, and sets the retention of documents according to the settings.
 * Idempotent, and safe when several processes run it at once. If an index cannot be made, it makes the others, and then
 * throws an error that names each of these indexes, but no document's values.
 */
export async function ensureIndexes(db: Db, { outboxRetentionSeconds }: IndexSettings = {}): Promise<void> {
  const collections = collectionsOf(db);
  const existing = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name));
  const failed: string[] = [];
  for (const [key, list] of Object.entries<readonly Index[]>(indexes)) {
    const { collectionName } = collections[key as keyof typeof collections];
    // Two transactions that both have to create the collection would conflict. Indexes create theirs, at less cost.
    if (list.length === 0 && !existing.has(collectionName)) await createCollection(db, collectionName);
    const wanted = list.map(([key, options]): NamedIndex => {
      const isRetention = options.name === outboxTtl && outboxRetentionSeconds !== undefined;
      return { key, ...options, ...(isRetention && { expireAfterSeconds: outboxRetentionSeconds }) };
    });
    failed.push(...(await ensureAll(db, collectionName, wanted)));
  }
  if (failed.length > 0) throw new Error(failed.join('; '));
}

/**
 * Creates the indexes by one command, which reads the collection once; or one by one, if an existing one conflicts.
 * Returns what is not made, with the reasons.
 */
async function ensureAll(db: Db, collection: string, wanted: readonly NamedIndex[]): Promise<string[]> {
  if (wanted.length === 0) return [];
  try {
    await db.collection(collection).createIndexes([...wanted]);
    return [];
  } catch (error) {
    if (isStoreUnavailable(error)) throw error;
    const failed: string[] = [];
    for (const index of wanted) {
      await ensureIndex(db, collection, index).catch((error: unknown) => {
        // The driver's message has the key of the documents, such as an email address.
        const reason = isDuplicateKey(error) ? 'documents share a key' : (error as Error).message;
        failed.push(`index ${collection}.${index.name} is not made: ${reason}`);
      });
    }
    return failed;
  }
}

async function ensureIndex(db: Db, collection: string, { key, ...options }: NamedIndex): Promise<void> {
  try {
    await db.collection(collection).createIndex(key, options);
  } catch (error) {
    const { name, expireAfterSeconds } = options;
    const indexOptionsConflict = 85;
    if (expireAfterSeconds === undefined || (error as { code?: unknown }).code !== indexOptionsConflict) throw error;
    // The index exists with another retention, which can be changed in place.
    await db.command({ collMod: collection, index: { name, expireAfterSeconds } });
  }
}

/** An index that is missing or differs from what {@link ensureIndexes} creates. */
export interface IndexFault {
  readonly collection: string;
  readonly index: string;
  readonly fault: 'missing' | 'different';
}

/**
 * Compares the database's indexes with those of {@link ensureIndexes}, and changes nothing. `only`: those on which
 * promises rest, because they are unique.
 */
export async function missingIndexes(db: Db, only?: 'unique'): Promise<IndexFault[]> {
  const collections = collectionsOf(db);
  const faults = Object.entries<readonly Index[]>(indexes).map(async ([key, all]) => {
    const { collectionName: collection } = collections[key as keyof typeof collections];
    const list = all.filter(([, { unique }]) => only === undefined || unique === true);
    if (list.length === 0) return [];
    const there = new Map((await listIndexes(db, collection)).map((index) => [index.name, index]));
    return list.flatMap(([fields, options]): IndexFault[] => {
      const found = there.get(options.name);
      if (found && shapeOf(found.key, found) === shapeOf(fields, options)) return [];
      return [{ collection, index: options.name, fault: found ? 'different' : 'missing' }];
    });
  });
  return (await Promise.all(faults)).flat();
}

async function listIndexes(db: Db, collection: string): Promise<IndexDescriptionInfo[]> {
  try {
    return await db.collection(collection).listIndexes().toArray();
  } catch (error) {
    const namespaceNotFound = 26;
    if ((error as { code?: unknown }).code !== namespaceNotFound) throw error;
    return [];
  }
}

/** Properties that identify the wanted index. The retention of delivered rows is a setting, so it is left out. */
function shapeOf(fields: unknown, { name, unique, sparse, ...options }: Partial<Index[1]>): string {
  const { partialFilterExpression, expireAfterSeconds } = options;
  const expiry = name === outboxTtl ? undefined : expireAfterSeconds;
  return JSON.stringify([fields, unique === true, sparse === true, partialFilterExpression ?? null, expiry ?? null]);
}

async function createCollection(db: Db, name: string): Promise<void> {
  try {
    await db.createCollection(name);
  } catch (error) {
    const namespaceExists = 48;
    if ((error as { code?: unknown }).code !== namespaceExists) throw error;
  }
}
