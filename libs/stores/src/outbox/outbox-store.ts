import type { AuthEvent } from '@auth-account/contracts/events';
import type { AnyBulkWriteOperation, ClientSession, Filter } from 'mongodb';
import { type DeliveryAttempt, type EventSubscriber, firstIdOf, type OutboxDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import { outboxTtl } from '../mongo/indexes.ts';
import { createOutboxLeases, type OutboxLeases } from './outbox-leases.ts';
import { logAttempt, noteIn, settle } from './outbox-pipelines.ts';

/** Milliseconds for which relays leave a new row alone, because it is published right after its commit. */
export const publishGraceMs = 5_000;

/**
 * The transactional outbox. An event is stored with the change that causes it, and relays enqueue it until every
 * subscriber has it.
 */
export interface OutboxStore extends OutboxLeases {
  /** Writes the event's row. It requires the session of the transaction, so that no row can be written outside one. */
  append(event: AuthEvent, at: Date, session: ClientSession): Promise<void>;
  /**
   * Writes the row of an event that no subscriber gets, and marks it as delivered. So a request for an email address
   * without an account does the same work as any other request.
   */
  appendDelivered(event: AuthEvent, at: Date, session: ClientSession): Promise<void>;
  /** Stores why rows could not be enqueued. */
  noteError(eventIds: readonly string[], message: string): Promise<void>;
  /**
   * Notes the results of attempts, in one round trip. If a subscriber now has the event, or the event expired for it,
   * the row notes that. The row becomes `delivered` once none of `subscribers` (those configured now) waits for it.
   * Rows that no longer wait stay as they are, and so do rows for which a replay to the subscriber was ordered after
   * that delivery.
   */
  record(attempts: readonly RecordedAttempt[], subscribers: readonly EventSubscriber[]): Promise<void>;
  /** Notes which subscribers have events, as {@link record} does, but without an attempt. */
  markDelivered(delivered: readonly Delivered[], subscribers: readonly EventSubscriber[]): Promise<void>;
  find(eventId: string): Promise<OutboxDocument | undefined>;
  /** Reads with majority concern, so the result can't be rolled back. */
  exists(eventId: string): Promise<boolean>;
  /** Returns the rows of the request with that `X-Request-ID`, oldest first. */
  findByRequest(requestId: string): Promise<OutboxDocument[]>;
  /** Oldest first. */
  list(filter: OutboxFilter): Promise<OutboxDocument[]>;
  /** Returns for how many seconds the database now keeps delivered rows; undefined if it keeps them for ever. */
  retentionSeconds(): Promise<number | undefined>;
  /** Returns the number of waiting rows, counted up to `limit`, and the time since which the oldest row waits. */
  backlog(limit: number): Promise<{ readonly depth: number; readonly oldest: Date | undefined }>;
}

export interface RecordedAttempt {
  readonly eventId: string;
  readonly attempt: DeliveryAttempt;
  /** The replay that the attempt belongs to; undefined for the first delivery. */
  readonly replayedAt?: Date | undefined;
}

export interface Delivered {
  readonly eventId: string;
  /** Names of the subscribers that have the event. */
  readonly by: readonly string[];
  /** Names of the subscribers for which the event expired. */
  readonly expiredFor?: readonly string[];
  /** The caller's lease of the row. If the row has another lease now, or none, the row stays as it is. */
  readonly lease?: string | undefined;
  readonly at: Date;
}

export interface OutboxFilter {
  readonly state?: OutboxDocument['state'];
  /** Lower bound, inclusive, of the events' creation time, which their ids contain (UUIDv7). */
  readonly since?: Date;
  /** Upper bound, exclusive, of the events' creation time. */
  readonly until?: Date;
  readonly limit: number;
  /** Id of the last event of the previous page. */
  readonly after?: string;
}

/** Maximum number of rows that are read for one `X-Request-ID`. A request writes only a few. */
const requestLimit = 100;

export function createOutboxStore({ outbox }: Collections): OutboxStore {
  return {
    ...createOutboxLeases(outbox),
    async append(event, at, session) {
      await outbox.insertOne(newRow(event, at), { session });
    },
    async appendDelivered(event, at, session) {
      await outbox.insertOne({ ...newRow(event, at), state: 'delivered', delivered_at: at }, { session });
    },
    async noteError(eventIds, message) {
      await outbox.updateMany({ _id: { $in: [...eventIds] }, state: 'pending' }, { $set: { last_error: message } });
    },
    async record(attempts, subscribers) {
      if (attempts.length === 0) return;
      const operations = attempts.map((recorded) => recordOf(recorded, subscribers));
      await outbox.bulkWrite(operations, { ordered: false });
    },
    async markDelivered(delivered, subscribers) {
      if (delivered.length === 0) return;
      const operations = delivered.map(({ eventId, by, expiredFor = [], lease, at }) => {
        const expired = expiredFor.length === 0 ? [] : [noteIn('discarded', expiredFor, at)];
        const update = [noteIn('deliveries', by, at), ...expired, ...settle(subscribers, at)];
        const filter = { _id: eventId, state: 'pending' as const, ...(lease === undefined ? {} : { lease }) };
        return { updateOne: { filter, update } };
      });
      await outbox.bulkWrite(operations, { ordered: false });
    },
    find: async (eventId) => (await outbox.findOne({ _id: eventId })) ?? undefined,
    async exists(eventId) {
      const options = { projection: { _id: 1 }, readConcern: { level: 'majority' } } as const;
      return (await outbox.findOne({ _id: eventId }, options)) !== null;
    },
    findByRequest: (requestId) =>
      outbox.find({ 'event.requestid': requestId }).sort({ _id: 1 }).limit(requestLimit).toArray(),
    list: ({ limit, ...filter }) => outbox.find(listFilter(filter)).sort({ _id: 1 }).limit(limit).toArray(),
    async retentionSeconds() {
      const kept = await outbox.listIndexes().toArray();
      return kept.find(({ name }) => name === outboxTtl)?.expireAfterSeconds;
    },
    async backlog(limit) {
      const [depth, oldest] = await Promise.all([
        outbox.countDocuments({ state: 'pending' }, { limit }),
        outbox.findOne({ state: 'pending' }, { sort: { created_at: 1 }, projection: { _id: 0, created_at: 1 } }),
      ]);
      return { depth, oldest: oldest?.created_at };
    },
  };
}

function newRow(event: AuthEvent, at: Date): OutboxDocument {
  return {
    _id: event.id,
    topic: event.type,
    event,
    state: 'pending',
    created_at: at,
    locked_until: new Date(at.getTime() + publishGraceMs),
    attempts: 0,
    deliveries: {},
  };
}

function recordOf(
  { eventId, attempt, replayedAt }: RecordedAttempt,
  subscribers: readonly EventSubscriber[],
): AnyBulkWriteOperation<OutboxDocument> {
  const { subscriber, at, outcome } = attempt;
  const settled = { delivered: 'deliveries', expired: 'discarded' } as const;
  const change =
    outcome === 'delivered' || outcome === 'expired'
      ? [noteIn(settled[outcome], [subscriber], at), ...settle(subscribers, at)]
      : [noteIn('first_failures', [subscriber], at), { $set: { last_error: `${subscriber}: ${attempt.error}` } }];
  const filter = {
    _id: eventId,
    state: 'pending' as const,
    [`replays.${subscriber}`]: replayedAt ?? { $exists: false },
  };
  return { updateOne: { filter, update: [logAttempt(attempt), ...change] } };
}

function listFilter({ state, since, until, after }: Omit<OutboxFilter, 'limit'>): Filter<OutboxDocument> {
  const bounds: Filter<OutboxDocument>[] = [];
  if (since) bounds.push({ _id: { $gte: firstIdOf(since) } });
  if (until) bounds.push({ _id: { $lt: firstIdOf(until) } });
  if (after !== undefined) bounds.push({ _id: { $gt: after } });
  return { ...(state === undefined ? {} : { state }), ...(bounds.length === 0 ? {} : { $and: bounds }) };
}
