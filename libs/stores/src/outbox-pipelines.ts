import type { Document } from 'mongodb';
import { type DeliveryAttempt, type EventTaker, maximumAttemptsKept } from './documents.ts';

/**
 * Returns the stages that set a row's `state` from the row's notes about each subscriber that is configured now. They
 * also set `delivered_at` if no subscriber waits and there is no dead letter.
 */
export function settle(takers: readonly EventTaker[], at: Date): Document[] {
  const isWaiting = { $or: takers.map((taker) => ({ $and: waits(taker) })) };
  const isDead = { $ne: [{ $ifNull: ['$dead', {}] }, {}] };
  const isDelivered = { $eq: ['$state', 'delivered'] };
  return [
    { $set: { state: { $cond: [isWaiting, 'pending', { $cond: [isDead, 'dead', 'delivered'] }] } } },
    { $set: { delivered_at: { $cond: [isDelivered, at, '$$REMOVE'] } } },
  ];
}

/** Fields that name the subscribers that no longer wait. */
const settling = ['deliveries', 'dead', 'discarded'] as const;

function waits(taker: EventTaker): Document[] {
  if (typeof taker === 'string') {
    const isMeant = { $in: [taker, { $ifNull: ['$only_for', [taker]] }] };
    return [isMeant, ...settling.map((map) => lacks(`$${map}.${taker}`))];
  }
  return [{ $in: ['$topic', [...taker.topics]] }, ...waits(taker.name)];
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
