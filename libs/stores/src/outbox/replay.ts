import { urgentTopic } from '@auth-account/contracts/events';
import type { ClientSession, UpdateFilter } from 'mongodb';
import type { DeadLetterDocument, OutboxDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import type { RunTransaction } from '../transactions/run-transaction.ts';
import { deadLetterId } from './dead-letter-store.ts';

export interface ReplayOrder {
  readonly eventId: string;
  /** Subscriber to send to; if missing, all subscribers that had the event or have a dead letter of it. */
  readonly subscriber?: string;
  /** True to send only to subscribers that have a dead letter of the event. */
  readonly deadOnly: boolean;
  /** True to send only events that the `subscriber` {@link isMissed | missed}. */
  readonly missingOnly?: boolean;
  readonly at: Date;
}

/** Subscribers that get the event again. If there are none, `reason` says why, and `waitingFor` who still waits for it. */
export interface Replayed {
  readonly to: readonly string[];
  readonly reason?: 'unknown' | 'waiting' | 'not_configured' | 'not_concerned';
  readonly waitingFor?: readonly string[];
}

/**
 * Sends an event again, under its own id, to a subscriber that has it, has a dead letter of it, or was configured after
 * the event. Sends nothing if the event is unknown or still on its way. A
 * subscriber that no worker has in its configuration, or that does not take the topic, gets nothing and keeps its dead
 * letter.
 *
 * One transaction deletes the dead letters and makes the outbox row pending again for those subscribers; a relay claims
 * the row within about a second, and delivery is attempted for 24 h. So a replay works from any host that reaches
 * MongoDB, even while Redis is unreachable.
 */
export type Replay = (order: ReplayOrder) => Promise<Replayed>;

/** Sends events again. */
export function createReplay({ outbox, deadLetters, subscribers }: Collections, transaction: RunTransaction): Replay {
  async function putBack(order: ReplayOrder, session: ClientSession): Promise<Replayed> {
    const { eventId, at } = order;
    const letters = await deadLetters.find({ event_id: eventId }, { session }).toArray();
    const row = await outbox.findOne({ _id: eventId }, { session });
    const wanted = targets(order, row, letters);
    const [letter] = letters;
    const topic = row?.topic ?? letter?.topic ?? '';
    const taking = (await subscribers.find({ configured_at: { $exists: true } }, { session }).toArray())
      .filter(({ topics }) => topics?.includes(topic) ?? true)
      .map(({ _id }) => _id);
    const names = taking.filter((name) => wanted.includes(name));
    if (names.length === 0) return { to: [], ...explain(order, row, letters, wanted, taking) };
    const ids = names.map((name) => deadLetterId(name, eventId));
    await deadLetters.deleteMany({ _id: { $in: ids } }, { session });
    if (row !== null) await outbox.updateOne({ _id: eventId }, putBackUpdate(row, names, at), { session });
    else if (letter) await outbox.insertOne(rowOf(letter, names, at), { session });
    return { to: names };
  }

  return (order) => {
    const isCommitted = async () => {
      const row = await outbox.findOne({ _id: order.eventId }, { projection: { replays: 1 } });
      return Object.values(row?.replays ?? {}).some((at) => at.getTime() === order.at.getTime());
    };
    return transaction((session) => putBack(order, session), { isCommitted });
  };
}

/**
 * Returns true if the subscriber missed the event because the subscriber was configured later. Such a subscriber does
 * not have the event, and the row does not wait for it. A request for a code never counts as missed, because some of
 * these requests are meant for no subscriber.
 */
export function isMissed(row: OutboxDocument, subscriber: string): boolean {
  const { deliveries, dead, discarded, only_for = [subscriber] } = row;
  const mayCome = row.state === 'pending' && only_for.includes(subscriber);
  return !mayCome && row.topic !== urgentTopic && !(subscriber in { ...deliveries, ...dead, ...discarded });
}

function explain(
  { subscriber }: ReplayOrder,
  row: OutboxDocument | null,
  letters: readonly DeadLetterDocument[],
  wanted: readonly string[],
  taking: readonly string[],
): Omit<Replayed, 'to'> {
  if (row === null && letters.length === 0) return { reason: 'unknown' };
  if (wanted.length > 0) return { reason: 'not_configured' };
  const asked = subscriber === undefined ? taking : taking.filter((name) => name === subscriber);
  const waitingFor = asked.filter((name) => row !== null && isWaiting(row, name));
  return waitingFor.length > 0 ? { reason: 'waiting', waitingFor } : { reason: 'not_concerned' };
}

type Waiting = Pick<OutboxDocument, 'state' | 'only_for' | 'deliveries' | 'dead' | 'discarded'>;

/** Returns true if the row waits for the subscriber, provided that the subscriber takes the row's topic. */
export function isWaiting({ state, only_for, deliveries, dead, discarded }: Waiting, subscriber: string): boolean {
  const isMeant = only_for?.includes(subscriber) ?? true;
  return state === 'pending' && isMeant && !(subscriber in { ...deliveries, ...dead, ...discarded });
}

function targets(
  { subscriber, deadOnly, missingOnly = false }: ReplayOrder,
  row: OutboxDocument | null,
  letters: readonly DeadLetterDocument[],
): string[] {
  const missed = !deadOnly && subscriber !== undefined && row !== null && isMissed(row, subscriber) ? [subscriber] : [];
  if (missingOnly) return missed;
  const dead = letters.map((letter) => letter.subscriber);
  const settled = deadOnly ? [] : Object.keys({ ...row?.deliveries, ...row?.discarded });
  const known = [...new Set([...dead, ...settled])];
  if (subscriber === undefined || known.includes(subscriber)) {
    return known.filter((name) => subscriber === undefined || name === subscriber);
  }
  return missed;
}

function putBackUpdate(
  { state, only_for = [] }: OutboxDocument,
  names: readonly string[],
  at: Date,
): UpdateFilter<OutboxDocument> {
  const cleared = names.flatMap((name) =>
    ['deliveries', 'dead', 'discarded', 'first_failures'].map((map) => [`${map}.${name}`, true] as const),
  );
  // A row that still waits for its first delivery is for every subscriber.
  const isFirst = state === 'pending' && only_for.length === 0;
  const others = state === 'pending' ? only_for : [];
  const meant = isFirst ? {} : { only_for: [...new Set([...others, ...names])] };
  return {
    $set: { state: 'pending', locked_until: at, attempts: 0, ...meant, ...replays(names, at) },
    $unset: { ...Object.fromEntries(cleared), lease: true, held: true, last_error: true, delivered_at: true },
  };
}

function replays(names: readonly string[], at: Date): Record<`replays.${string}`, Date> {
  return Object.fromEntries(names.map((name) => [`replays.${name}`, at]));
}

/**
 * Creates a row for a letter whose row is gone. A row vanishes only if somebody deletes it by hand. Every subscriber
 * gets the event again.
 */
function rowOf(letter: DeadLetterDocument, names: readonly string[], at: Date): OutboxDocument {
  return {
    _id: letter.event_id,
    topic: letter.topic,
    event: letter.event,
    state: 'pending',
    created_at: at,
    locked_until: at,
    attempts: 0,
    deliveries: {},
    replays: Object.fromEntries(names.map((name) => [name, at])),
  };
}
