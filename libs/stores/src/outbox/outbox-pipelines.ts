import type { Document } from 'mongodb';
import { type DeliveryAttempt, type EventSubscriber, maximumAttemptsKept } from '../documents.ts';

/**
 * Returns the stages that set a row's `state` from the row's notes about each subscriber that is configured now. They
 * also set `delivered_at` if no subscriber waits and there is no dead letter.
 */
export function settle(subscribers: readonly EventSubscriber[], at: Date): Document[] {
  const isWaiting = { $or: subscribers.map((subscriber) => ({ $and: waits(subscriber) })) };
  const isDead = { $ne: [{ $ifNull: ['$dead', {}] }, {}] };
  const isDelivered = { $eq: ['$state', 'delivered'] };
  return [
    { $set: { state: { $cond: [isWaiting, 'pending', { $cond: [isDead, 'dead', 'delivered'] }] } } },
    { $set: { delivered_at: { $cond: [isDelivered, at, '$$REMOVE'] } } },
  ];
}

/** Fields that name the subscribers that no longer wait. */
const settling = ['deliveries', 'dead', 'discarded'] as const;

function waits(subscriber: EventSubscriber): Document[] {
  if (typeof subscriber === 'string') {
    const isMeant = { $in: [subscriber, { $ifNull: ['$only_for', [subscriber]] }] };
    return [isMeant, ...settling.map((map) => lacks(`$${map}.${subscriber}`))];
  }
  return [{ $in: ['$topic', [...subscriber.topics]] }, ...waits(subscriber.name)];
}

function lacks(path: string) {
  return { $lte: [path, null] };
}

/**
 * Returns the stage that adds these subscribers to the field, a map, with the time `at`. Existing entries stay as they
 * are.
 */
export function noteIn(field: string, names: readonly string[], at: Date): Document {
  const noted = Object.fromEntries(names.map((name) => [name, { $ifNull: [`$${field}.${name}`, at] }]));
  return { $set: { [field]: { $mergeObjects: [`$${field}`, noted] } } };
}

/** Returns the stage that appends an attempt to the row's log. */
export function logAttempt(attempt: DeliveryAttempt): Document {
  const all = { $concatArrays: [{ $ifNull: ['$attempt_log', []] }, [{ $literal: attempt }]] };
  return { $set: { attempt_log: { $slice: [all, -maximumAttemptsKept] } } };
}
