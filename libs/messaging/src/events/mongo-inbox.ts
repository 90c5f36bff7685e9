import type { ClientSession, Collection, MongoClient } from 'mongodb';
import type { Inbox, InboxEntry } from './event-consumer.ts';

/** An entry of the inbox. */
export interface InboxDocument {
  /** Subscriber and event id: see {@link InboxEntry}. */
  readonly _id: string;
  readonly processed_at: Date;
}

export interface MongoInboxOptions {
  /** Client of the replica set to which the effects write. The caller closes it. */
  readonly client: MongoClient;
  /** Collection of the inbox, in the consumer's own database. Several subscribers may share a collection. */
  readonly collection: Collection<InboxDocument>;
  /**
   * Retention of an entry, in seconds. It must be longer than the retention of delivered outbox rows, dead letters and
   * failed jobs, because an event can be delivered again from each of these.
   */
  readonly retentionSeconds?: number;
  readonly now?: () => Date;
}

const daySeconds = 24 * 60 * 60;
const defaultRetentionSeconds = 90 * daySeconds;
const confirmedWithinMs = 4_500;
const duplicateKey = 11_000;
const indexOptionsConflict = 85;

/**
 * Opens the inbox in MongoDB. Creates its collection, and the index that removes old entries, if they are missing.
 * Changes that index if the retention has changed.
 *
 * Each effect runs in a multi-document transaction with its entry. The entry is written first, so that one of two
 * simultaneous deliveries waits for the other. A delivery counts as a duplicate only once a majority has the entry. An
 * entry that only a minority has could be rolled back with its effect, and the event, already acknowledged, would be
 * lost. If a consumer is killed within a transaction, MongoDB aborts the transaction after
 * `transactionLifetimeLimitSeconds` (default 60). Until then the redelivered event waits.
 *
 * @example
 * const inbox = await openMongoInbox({ client, collection: client.db('kitchen').collection('inbox') });
 */
export async function openMongoInbox(options: MongoInboxOptions): Promise<Inbox<ClientSession>> {
  const { client, collection, retentionSeconds = defaultRetentionSeconds, now = () => new Date() } = options;
  await ensureExpiry(client, collection, retentionSeconds);
  const process = (entry: InboxEntry, effect: (session: ClientSession) => Promise<void>) =>
    client.withSession((session) =>
      session.withTransaction<'processed' | 'duplicate'>(
        async () => {
          if (!(await remember(collection, entry, now(), session))) {
            await session.abortTransaction();
            return 'duplicate';
          }
          await effect(session);
          return 'processed';
        },
        { readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } },
      ),
    );
  return {
    async once(entry, effect) {
      // If the other delivery's entry was rolled back, it no longer exists, and this delivery tries again.
      for (;;) {
        const outcome = await process(entry, effect);
        if (outcome === 'processed' || (await isConfirmed(collection, entry))) return outcome;
      }
    },
  };
}

/**
 * Returns true if the entry exists and can't be rolled back. Throws the driver's error if no majority confirms that in
 * time. The event is then delivered again.
 */
async function isConfirmed(collection: Collection<InboxDocument>, entry: InboxEntry): Promise<boolean> {
  const options = { readConcern: { level: 'linearizable' }, maxTimeMS: confirmedWithinMs } as const;
  return (await collection.findOne({ _id: idOf(entry) }, options)) !== null;
}

const idOf = ({ subscriber, eventId }: InboxEntry) => `${subscriber}/${eventId}`;

/** Adds the entry. Returns false if it exists already. */
async function remember(
  collection: Collection<InboxDocument>,
  entry: InboxEntry,
  processed_at: Date,
  session: ClientSession,
): Promise<boolean> {
  try {
    await collection.insertOne({ _id: idOf(entry), processed_at }, { session });
    return true;
  } catch (error) {
    if (codeOf(error) === duplicateKey) return false;
    throw error;
  }
}

async function ensureExpiry(
  client: MongoClient,
  collection: Collection<InboxDocument>,
  expireAfterSeconds: number,
): Promise<void> {
  const keyPattern = { processed_at: 1 } as const;
  try {
    await collection.createIndex(keyPattern, { name: 'processed_ttl', expireAfterSeconds });
  } catch (error) {
    if (codeOf(error) !== indexOptionsConflict) throw error;
    const { dbName, collectionName } = collection;
    await client.db(dbName).command({ collMod: collectionName, index: { keyPattern, expireAfterSeconds } });
  }
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}
