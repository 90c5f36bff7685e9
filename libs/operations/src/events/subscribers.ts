import type { Stores } from '@auth-account/stores';
import type { SubscriberDocument } from '@auth-account/stores/documents';
import type { Mongo } from '../context.ts';
import { OperationError } from '../operation-error.ts';
import type { Plan } from '../plan.ts';

export type EventContext = Pick<Mongo, 'stores' | 'now'>;

const countLimit = 1_000_000;

/** Lists subscribers that are or were configured, or have dead letters. */
export async function listSubscribers({ subscribers, deadLetters }: Stores) {
  const [suspended, counts] = await Promise.all([subscribers.list(), deadLetters.counts(countLimit)]);
  const known = new Map(suspended.map((one) => [one._id, one]));
  const names = [...new Set([...known.keys(), ...counts.keys()])].sort();
  const list = names.map((name) => ({
    name,
    configured: known.get(name)?.configured_at !== undefined,
    parked_at: known.get(name)?.parked_at ?? null,
    parked_by_event: known.get(name)?.parked_by_event ?? null,
    resumed_at: known.get(name)?.resumed_at ?? null,
    dead_letters: counts.get(name) ?? 0,
  }));
  return { subscribers: list };
}

/**
 * Finds a subscriber. Throws an `OperationError` of the kind `unknown`, with the names of all subscribers, if the workers
 * do not have it.
 */
export async function requireSubscriber({ subscribers }: Stores, name: string): Promise<SubscriberDocument> {
  const known = await subscribers.list();
  const configured = known.filter(({ configured_at }) => configured_at !== undefined);
  const found = configured.find(({ _id }) => _id === name);
  if (found !== undefined) return found;
  const names = configured.map(({ _id }) => _id).sort();
  const there = names.length === 0 ? 'they have none' : `they have ${names.join(', ')}`;
  throw new OperationError('unknown', `The workers have no subscriber ${name} (EVENT_SUBSCRIBERS): ${there}.`);
}

/** Stored if an operator suspended the subscriber. Otherwise the id of the event that was answered 410 is stored. */
const byOperator = 'operator';

/**
 * Plans to suspend a subscriber's deliveries; `parked` is false if they were suspended already. Nothing is dropped.
 * Throws an `OperationError` of the kind `unknown` if the workers do not have the subscriber.
 */
export async function planSuspension({ stores, now }: EventContext, subscriber: string) {
  await requireSubscriber(stores, subscriber);
  return {
    question: `Suspend the deliveries to ${subscriber}? Its events wait until it is resumed.`,
    async run() {
      return { subscriber, parked: await stores.subscribers.suspend(subscriber, { at: now(), eventId: byOperator }) };
    },
  };
}

/** Plans to resume a subscriber's deliveries; `resumed` is false if they were not suspended. */
export function planResumption({ stores, now }: EventContext, subscriber: string) {
  return {
    question: `Resume the deliveries to ${subscriber}?`,
    async run() {
      return { subscriber, resumed: await stores.subscribers.resume(subscriber, now()) };
    },
  };
}

/**
 * Plans to have the events that wait for a subscriber tried now, evenly. Throws an `OperationError`: `unknown` if the
 * workers do not have the subscriber, `refused` while it is suspended.
 */
export async function planRetry({ stores, now }: EventContext, subscriber: string) {
  const { parked_at } = await requireSubscriber(stores, subscriber);
  if (parked_at) {
    const about = { code: 'subscriber_suspended', subject: subscriber } as const;
    throw new OperationError('refused', `${subscriber} is suspended. Resume it first.`, about);
  }
  return {
    question: `Try the events that wait for ${subscriber} now?`,
    async run() {
      await stores.subscribers.retry(subscriber, now());
      return { subscriber, retried: true };
    },
  };
}

/**
 * Plans to delete a dead letter without sending the event again. The plan's run throws an `OperationError` of the kind
 * `unknown` if there is no such dead letter.
 */
export function planDiscard(
  { stores, now }: EventContext,
  { eventId, subscriber }: { readonly eventId: string; readonly subscriber: string },
): Plan<{ readonly event_id: string; readonly subscriber: string; readonly discarded: true }> {
  return {
    question: `Discard event ${eventId} for ${subscriber}?`,
    async run() {
      const isDone = await stores.deadLetters.discard(eventId, subscriber, now());
      if (!isDone) throw new OperationError('unknown', `${subscriber} has no dead letter of event ${eventId}.`);
      return { event_id: eventId, subscriber, discarded: true };
    },
  };
}
