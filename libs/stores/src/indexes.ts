import type { CreateIndexesOptions, Db, IndexDescriptionInfo, IndexSpecification } from 'mongodb';
import { collectionsOf } from './collections.ts';

const daySeconds = 24 * 60 * 60;

export interface IndexSettings {
  /** How long delivered outbox rows stay, in seconds. */
  readonly outboxRetentionSeconds?: number;
}

type Index = readonly [IndexSpecification, CreateIndexesOptions & { readonly name: string }];

const outboxTtl = 'delivered_ttl';

const indexes = {
  users: [
    [{ email_key: 1 }, { name: 'email_key_unique', unique: true }],
    [{ home_group_id: 1, joined_at: 1, _id: 1 }, { name: 'group_members_by_age' }],
  ],
  groups: [
    [{ import_key: 1 }, { name: 'import_key_unique', unique: true, sparse: true }],
    // Nobody is in a closed group, and nothing needs it. Open ones are not in the index: registrations don't write it.
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
    // What may still be good, however many were revoked: counted in the transaction that makes one more.
    [
      { home_group_id: 1, expires_at: 1 },
      { name: 'group_open_invites', partialFilterExpression: { revoked_at: null } },
    ],
    // An invite ends when it expires or earlier, so that its tombstone stays for 30 days at least.
    [{ expires_at: 1 }, { name: 'tombstone_ttl', expireAfterSeconds: 30 * daySeconds }],
  ],
  sessions: [
    // One live session per user and device, and the list of a user's live sessions.
    [
      { user_id: 1, device_id: 1 },
      { name: 'live_device_unique', unique: true, partialFilterExpression: { is_revoked: false } },
    ],
    // What was revoked lately: the worker publishes it until Redis is known to have it.
    [{ revoked_at: 1 }, { name: 'revoked_at', partialFilterExpression: { is_revoked: true } }],
    // What had its claims changed lately: the same.
    [{ claims_changed_at: 1 }, { name: 'claims_changed_at', sparse: true }],
    // A revoked session stays until its tokens would be over anyway: it is what makes them known as revoked.
    [{ absolute_expires_at: 1 }, { name: 'absolute_expiry_ttl', expireAfterSeconds: daySeconds }],
  ],
  idempotency: [[{ expires_at: 1 }, { name: 'expiry_ttl', expireAfterSeconds: 0 }]],
  outbox: [
    [{ locked_until: 1 }, { name: 'pending', partialFilterExpression: { state: 'pending' } }],
    // Depth and age of what waits, answered from the index alone.
    [
      { state: 1, created_at: 1 },
      { name: 'pending_since', partialFilterExpression: { state: 'pending' } },
    ],
    // Rows that wait for room in a queue; no other row is in these.
    [
      { 'held.for': 1 },
      { name: 'held_for', partialFilterExpression: { state: 'pending', 'held.for': { $exists: true } } },
    ],
    [
      { 'held.until': 1 },
      { name: 'held_until', partialFilterExpression: { state: 'pending', 'held.until': { $exists: true } } },
    ],
    [{ 'event.requestid': 1 }, { name: 'request' }],
    [{ delivered_at: 1 }, { name: outboxTtl, expireAfterSeconds: 7 * daySeconds }],
  ],
  deadLetters: [
    [{ created_at: 1, _id: 1 }, { name: 'by_time' }],
    [{ subscriber: 1, created_at: 1, _id: 1 }, { name: 'by_subscriber' }],
    [{ event_id: 1 }, { name: 'by_event' }],
  ],
  subscribers: [],
} as const satisfies Record<keyof ReturnType<typeof collectionsOf>, readonly Index[]>;

/**
 * Creates every collection and index that is missing, and sets the lifetimes of documents as the settings say.
 * Idempotent, safe when run by several at once.
 */
export async function ensureIndexes(db: Db, { outboxRetentionSeconds }: IndexSettings = {}): Promise<void> {
  const collections = collectionsOf(db);
  const existing = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name));
  for (const [key, list] of Object.entries<readonly Index[]>(indexes)) {
    const { collectionName } = collections[key as keyof typeof collections];
    // A transaction that has to make its collection conflicts with every other that does.
    if (!existing.has(collectionName)) await createCollection(db, collectionName);
    for (const [fields, options] of list) {
      const isRetention = options.name === outboxTtl && outboxRetentionSeconds !== undefined;
      const settings = isRetention ? { ...options, expireAfterSeconds: outboxRetentionSeconds } : options;
      await ensureIndex(db, collectionName, fields, settings);
    }
  }
}

async function ensureIndex(db: Db, collection: string, fields: IndexSpecification, options: Index[1]): Promise<void> {
  try {
    await db.collection(collection).createIndex(fields, options);
  } catch (error) {
    const { name, expireAfterSeconds } = options;
    const indexOptionsConflict = 85;
    if (expireAfterSeconds === undefined || (error as { code?: unknown }).code !== indexOptionsConflict) throw error;
    // The index is there with another retention, which can be changed in place.
    await db.command({ collMod: collection, index: { name, expireAfterSeconds } });
  }
}

/** An index that is not there, or not as {@link ensureIndexes} makes it. */
export interface IndexFault {
  readonly collection: string;
  readonly index: string;
  readonly fault: 'missing' | 'different';
}

/** Compares the database's indexes with those of {@link ensureIndexes}, and changes nothing. */
export async function missingIndexes(db: Db): Promise<IndexFault[]> {
  const collections = collectionsOf(db);
  const faults = Object.entries<readonly Index[]>(indexes).map(async ([key, list]) => {
    const { collectionName: collection } = collections[key as keyof typeof collections];
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

/** The properties by which an index is the one that is wanted. How long delivered rows stay is a setting. */
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
