import type { ClientSession, UpdateFilter } from 'mongodb';
import type { Collections } from './collections.ts';
import { deadLetterId } from './dead-letter-store.ts';
import type { DeadLetterDocument, OutboxDocument } from './documents.ts';
import type { RunTransaction } from './transactions/run-transaction.ts';

export interface ReplayOrder {
  readonly eventId: string;
  /** To which subscriber; if missing, to all that had it or have a dead letter of it. */
  readonly subscriber?: string;
  /** Only to those that have a dead letter of it. */
  readonly deadOnly: boolean;
  readonly at: Date;
}

/**
 * Has an event sent again, under its own id: to a subscriber that has it, or of which there is a dead letter, or that
 * was configured after it. Returns the subscribers it goes to: none if the event is unknown, or still on its way to them. To a
 * subscriber that no worker has in its configuration nothing goes, and its dead letter stays.
 *
 * One transaction takes the dead letters away and puts the outbox row back to pending for those subscribers; a relay
 * takes it up within a second or so, with 24 h of attempts before it. So it works from anywhere that reaches MongoDB,
 * and while Redis is away.
 */
export type Replay = (order: ReplayOrder) => Promise<readonly string[]>;

/** Creates the replay. `transaction` binds {@link RunTransaction} to the client. */
export function createReplay({ outbox, deadLetters, subscribers }: Collections, transaction: RunTransaction): Replay {
  async function putBack(order: ReplayOrder, session: ClientSession): Promise<readonly string[]> {
    const { eventId, at } = order;
    const letters = await deadLetters.find({ event_id: eventId }, { session }).toArray();
    const row = await outbox.findOne({ _id: eventId }, { session });
    const wanted = targets(order, row, letters);
    const isConfigured = { _id: { $in: wanted }, configured_at: { $exists: true } };
    const names = (await subscribers.find(isConfigured, { session }).toArray()).map(({ _id }) => _id);
    const [letter] = letters;
    if (names.length === 0) return [];
    const ids = names.map((name) => deadLetterId(name, eventId));
    await deadLetters.deleteMany({ _id: { $in: ids } }, { session });
    if (row !== null) await outbox.updateOne({ _id: eventId }, putBackUpdate(names, at), { session });
    else if (letter) await outbox.insertOne(rowOf(letter, names, at), { session });
    return names;
  }

  return (order) => {
    const isCommitted = async () => {
      const row = await outbox.findOne({ _id: order.eventId }, { projection: { replays: 1 } });
      return Object.values(row?.replays ?? {}).some((at) => at.getTime() === order.at.getTime());
    };
    return transaction((session) => putBack(order, session), { isCommitted });
  };
}

function targets(
  { subscriber, deadOnly }: ReplayOrder,
  row: OutboxDocument | null,
  letters: readonly DeadLetterDocument[],
): string[] {
  const dead = letters.map((letter) => letter.subscriber);
  const settled = deadOnly ? [] : Object.keys({ ...row?.deliveries, ...row?.discarded });
  const known = [...new Set([...dead, ...settled])];
  if (subscriber === undefined || known.includes(subscriber)) {
    return known.filter((name) => subscriber === undefined || name === subscriber);
  }
  // One that was configured after the event: it is not on its way there, as the row waits for nobody.
  return !deadOnly && row !== null && row.state !== 'pending' ? [subscriber] : [];
}

function putBackUpdate(names: readonly string[], at: Date): UpdateFilter<OutboxDocument> {
  const cleared = names.flatMap((name) =>
    ['deliveries', 'dead', 'discarded', 'first_failures'].map((map) => [`${map}.${name}`, true] as const),
  );
  return {
    $set: { state: 'pending', locked_until: at, attempts: 0, ...replays(names, at) },
    $unset: { ...Object.fromEntries(cleared), lease: true, held: true, last_error: true, delivered_at: true },
  };
}

function replays(names: readonly string[], at: Date): Record<`replays.${string}`, Date> {
  return Object.fromEntries(names.map((name) => [`replays.${name}`, at]));
}

/** Of a letter whose row is gone, which only happens by hand: the event goes to every subscriber again. */
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
