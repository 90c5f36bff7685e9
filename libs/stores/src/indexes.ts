import type { CreateIndexesOptions, Db, IndexSpecification } from 'mongodb';
import { collectionsOf } from './collections.ts';

const daySeconds = 24 * 60 * 60;

/** How long delivered outbox rows stay, in seconds, where nothing else is configured. */
const outboxRetentionSeconds = 7 * daySeconds;

type Index = readonly [IndexSpecification, CreateIndexesOptions & { readonly name: string }];

const indexes = {
  users: [
    [{ email_key: 1 }, { name: 'email_key_unique', unique: true }],
    [{ home_group_id: 1, joined_at: 1 }, { name: 'group_members' }],
  ],
  groups: [],
  invites: [[{ home_group_id: 1, created_at: -1 }, { name: 'group_invites' }]],
  sessions: [
    // One live session per user and device, and the list of a user's live sessions.
    [
      { user_id: 1, device_id: 1 },
      { name: 'live_device_unique', unique: true, partialFilterExpression: { is_revoked: false } },
    ],
    // What was revoked lately: the worker publishes it until Redis is known to have it.
    [{ revoked_at: 1 }, { name: 'revoked_at', partialFilterExpression: { is_revoked: true } }],
    // A revoked session stays until its tokens would be over anyway: it is what makes them known as revoked.
    [{ absolute_expires_at: 1 }, { name: 'absolute_expiry_ttl', expireAfterSeconds: daySeconds }],
  ],
  idempotency: [[{ expires_at: 1 }, { name: 'expiry_ttl', expireAfterSeconds: 0 }]],
  outbox: [
    [{ locked_until: 1 }, { name: 'pending', partialFilterExpression: { state: 'pending' } }],
    [{ delivered_at: 1 }, { name: 'delivered_ttl', expireAfterSeconds: outboxRetentionSeconds }],
  ],
} as const satisfies Record<keyof ReturnType<typeof collectionsOf>, readonly Index[]>;

/** Makes every collection and index that is missing. Idempotent, safe when run by several at once. */
export async function ensureIndexes(db: Db): Promise<void> {
  const collections = collectionsOf(db);
  const existing = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name));
  for (const [key, list] of Object.entries(indexes)) {
    const { collectionName } = collections[key as keyof typeof collections];
    // A transaction that has to make its collection conflicts with every other that does.
    if (!existing.has(collectionName)) await createCollection(db, collectionName);
    for (const [fields, options] of list) await db.collection(collectionName).createIndex(fields, options);
  }
}

async function createCollection(db: Db, name: string): Promise<void> {
  try {
    await db.createCollection(name);
  } catch (error) {
    const namespaceExists = 48;
    if ((error as { code?: unknown }).code !== namespaceExists) throw error;
  }
}
