import type { Filter } from 'mongodb';
import type { Collections } from './collections.ts';
import type { DeadLetterDocument, DeliveryAttempt, OutboxDocument } from './documents.ts';
import { logAttempt, noteIn, settle } from './outbox-pipelines.ts';
import type { RunTransaction } from './transactions/run-transaction.ts';

/** A delivery that was given up: the last attempt and what is known of those before it. */
export interface GivenUp {
  readonly event: OutboxDocument['event'];
  readonly attempt: DeliveryAttempt & { readonly outcome: 'given_up'; readonly error: string };
  /** How often it was tried. */
  readonly attempts: number;
  /** When it was first tried, if the row does not know. */
  readonly since: Date;
  /** The replay that the attempts belong to; undefined for the first delivery. */
  readonly replayedAt?: Date | undefined;
  /** Every subscriber that is configured now. */
  readonly subscribers: readonly string[];
}

export interface DeadLetterFilter {
  readonly subscriber?: string;
  /** Made at or after that time. */
  readonly since?: Date;
  /** Made before that time. */
  readonly until?: Date;
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: Pick<DeadLetterDocument, '_id' | 'created_at'>;
}

/** Events that could not be delivered: one letter per event and subscriber, until it is replayed or discarded. */
export interface DeadLetterStore {
  /**
   * Writes the dead letter, and in the same transaction notes it in the outbox row, which then no longer waits for that
   * subscriber. Idempotent. Returns whether there is one now: not if the subscriber has the event after all, nor if it
   * has been ordered to be sent again since: who speaks of the attempts before that comes too late.
   */
  bury(givenUp: GivenUp): Promise<boolean>;
  /** Oldest first. */
  list(filter: DeadLetterFilter): Promise<DeadLetterDocument[]>;
  /** The event's dead letters, or its one of that subscriber. */
  find(eventId: string, subscriber?: string): Promise<DeadLetterDocument[]>;
  /** Takes a dead letter away for good, without sending the event again. Returns whether there was one. */
  discard(eventId: string, subscriber: string, at: Date): Promise<boolean>;
  /** Subscriber → how many there are, counted up to `limit`. Subscribers without any are missing. */
  counts(limit: number): Promise<Map<string, number>>;
}

/** Creates the store. `transaction` binds {@link RunTransaction} to the client. */
export function createDeadLetterStore(collections: Collections, transaction: RunTransaction): DeadLetterStore {
  const { outbox, deadLetters } = collections;
  return {
    async bury(givenUp) {
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
          // Of a row for which nobody waits: it is delivered once its last dead letter has gone.
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

/** The `_id` of a dead letter. */
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
