import type { Filter } from 'mongodb';
import type { DeadLetterDocument, DeliveryAttempt, EventSubscriber, OutboxDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import type { RunTransaction } from '../transactions/run-transaction.ts';
import { logAttempt, noteIn, settle } from './outbox-pipelines.ts';

/** A delivery that was given up, with its last attempt and the data about earlier attempts. */
export interface GivenUp {
  readonly event: OutboxDocument['event'];
  readonly attempt: DeliveryAttempt & { readonly outcome: 'given_up'; readonly error: string };
  /** Number of attempts. */
  readonly attempts: number;
  /** Time of the first attempt, used if the row does not have it. */
  readonly since: Date;
  /** The replay that the attempts belong to; undefined for the first delivery. */
  readonly replayedAt?: Date | undefined;
  /** All subscribers that are configured now. */
  readonly subscribers: readonly EventSubscriber[];
}

export interface DeadLetterFilter {
  readonly subscriber?: string;
  /** Lower bound of the creation time, inclusive. */
  readonly since?: Date;
  /** Upper bound of the creation time, exclusive. */
  readonly until?: Date;
  readonly limit: number;
  /** Last letter of the previous page. */
  readonly after?: Pick<DeadLetterDocument, '_id' | 'created_at'>;
}

/** Events that could not be delivered: one letter per event and subscriber, until it is replayed or discarded. */
export interface DeadLetterStore {
  /**
   * Writes the dead letter, and notes it in the outbox row in the same transaction. The row then no longer waits for
   * that subscriber. Idempotent. Returns true if the dead letter exists now, and false if the subscriber has the event
   * after all or a replay was ordered after the attempts.
   */
  add(givenUp: GivenUp): Promise<boolean>;
  /** Oldest first. */
  list(filter: DeadLetterFilter): Promise<DeadLetterDocument[]>;
  /** Returns the event's dead letters, or only that subscriber's letter. */
  find(eventId: string, subscriber?: string): Promise<DeadLetterDocument[]>;
  /** Deletes a dead letter for good, without sending the event again. Returns true if there was such a letter. */
  discard(eventId: string, subscriber: string, at: Date): Promise<boolean>;
  /** Number of letters by subscriber, counted up to `limit`. Subscribers without letters are left out. */
  counts(limit: number): Promise<Map<string, number>>;
}

/** Creates the store. */
export function createDeadLetterStore(collections: Collections, transaction: RunTransaction): DeadLetterStore {
  const { outbox, deadLetters } = collections;
  return {
    async add(givenUp) {
      const { event, attempt, subscribers } = givenUp;
      const { subscriber, at } = attempt;
      const _id = deadLetterId(subscriber, event.id);
      return transaction(
        async (session) => {
          const row = await outbox.findOne({ _id: event.id }, { session });
          if (row && (row.deliveries[subscriber] || row.discarded?.[subscriber])) return false;
          if (row && row.replays?.[subscriber]?.getTime() !== givenUp.replayedAt?.getTime()) return false;
          const letter = toDeadLetter(givenUp, row);
          await deadLetters.replaceOne({ _id }, letter, { upsert: true, session });
          const error = { $set: { last_error: `${subscriber}: given up: ${attempt.error}` } };
          const update = [logAttempt(attempt), noteIn('dead', [subscriber], at), error, ...settle(subscribers, at)];
          await outbox.updateOne({ _id: event.id }, update, { session });
          return true;
        },
        { isCommitted: async () => (await deadLetters.countDocuments({ _id, last_attempt_at: at })) === 1 },
      );
    },
    list: ({ limit, ...filter }) =>
      deadLetters.find(listFilter(filter)).sort({ created_at: 1, _id: 1 }).limit(limit).toArray(),
    find: (eventId, subscriber) =>
      deadLetters
        .find(subscriber === undefined ? { event_id: eventId } : { _id: deadLetterId(subscriber, eventId) })
        .toArray(),
    async discard(eventId, subscriber, at) {
      const _id = deadLetterId(subscriber, eventId);
      return transaction(
        async (session) => {
          const { deletedCount } = await deadLetters.deleteOne({ _id }, { session });
          if (deletedCount === 0) return false;
          const taken = [{ $unset: `dead.${subscriber}` }, noteIn('discarded', [subscriber], at)];
          await outbox.updateOne({ _id: eventId, state: 'pending' }, taken, { session });
          // No subscriber waits for the row, so it counts as delivered once its last dead letter is gone.
          await outbox.updateOne({ _id: eventId, state: 'dead' }, [...taken, ...settle([], at)], { session });
          return true;
        },
        { isCommitted: async () => (await deadLetters.countDocuments({ _id })) === 0 },
      );
    },
    async counts(limit) {
      const names = await deadLetters.distinct('subscriber');
      const counted = names.map(
        async (subscriber) => [subscriber, await deadLetters.countDocuments({ subscriber }, { limit })] as const,
      );
      return new Map(await Promise.all(counted));
    },
  };
}

/** Returns the `_id` of a dead letter. */
export function deadLetterId(subscriber: string, eventId: string): string {
  return `${subscriber}:${eventId}`;
}

function toDeadLetter({ event, attempt, attempts, since }: GivenUp, row: OutboxDocument | null): DeadLetterDocument {
  const { subscriber, at, error } = attempt;
  const before = row?.attempt_log?.filter((one) => one.subscriber === subscriber) ?? [];
  return {
    _id: deadLetterId(subscriber, event.id),
    event_id: event.id,
    subscriber,
    topic: event.type,
    event,
    last_error: error,
    attempts,
    first_attempt_at: row?.first_failures?.[subscriber] ?? since,
    last_attempt_at: at,
    created_at: at,
    attempt_log: [...before, attempt],
  };
}

function listFilter({ subscriber, since, until, after }: Omit<DeadLetterFilter, 'limit'>): Filter<DeadLetterDocument> {
  const bounds: Filter<DeadLetterDocument>[] = [];
  if (subscriber !== undefined) bounds.push({ subscriber });
  if (since) bounds.push({ created_at: { $gte: since } });
  if (until) bounds.push({ created_at: { $lt: until } });
  if (after) {
    const { created_at, _id } = after;
    bounds.push({ created_at: { $gte: created_at } }, { $nor: [{ created_at, _id: { $lte: _id } }] });
  }
  return bounds.length === 0 ? {} : { $and: bounds };
}
