import type { Document } from 'mongodb';
import { type DeliveryAttempt, maximumAttemptsKept } from './documents.ts';

/**
 * Stages that set a row's `state` by what is known of each subscriber (those that are configured now), and
 * `delivered_at` if nobody waits and nothing is dead.
 */
export function settle(subscribers: readonly string[], at: Date): Document[] {
  const isWaiting = { $or: subscribers.map((name) => ({ $and: settling.map((map) => lacks(`$${map}.${name}`)) })) };
  const isDead = { $ne: [{ $ifNull: ['$dead', {}] }, {}] };
  const isDelivered = { $eq: ['$state', 'delivered'] };
  return [
    { $set: { state: { $cond: [isWaiting, 'pending', { $cond: [isDead, 'dead', 'delivered'] }] } } },
    { $set: { delivered_at: { $cond: [isDelivered, at, '$$REMOVE'] } } },
  ];
}

/** Maps that hold the subscribers that do not wait any more. */
const settling = ['deliveries', 'dead', 'discarded'] as const;

function lacks(path: string) {
  return { $lte: [path, null] };
}

/** Stage that notes in the field, a map, since when it holds for these subscribers; who is in it stays as it is. */
export function noteIn(field: string, names: readonly string[], at: Date): Document {
  const noted = Object.fromEntries(names.map((name) => [name, { $ifNull: [`$${field}.${name}`, at] }]));
  return { $set: { [field]: { $mergeObjects: [`$${field}`, noted] } } };
}

/** Stage that appends an attempt to the row's log. */
export function logAttempt(attempt: DeliveryAttempt): Document {
  const all = { $concatArrays: [{ $ifNull: ['$attempt_log', []] }, [{ $literal: attempt }]] };
  return { $set: { attempt_log: { $slice: [all, -maximumAttemptsKept] } } };
}
