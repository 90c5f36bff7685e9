import { isExpired } from '@auth-account/messaging';
import type { Stores } from '@auth-account/stores';
import type { DeadLetterDocument, OutboxDocument, SubscriberDocument } from '@auth-account/stores/documents';
import { isWaiting } from '@auth-account/stores/replay';
import type { Mongo } from '../context.ts';
import { maskEmailsIn } from './mask-email.ts';

type Row = Pick<
  OutboxDocument,
  'topic' | 'event' | 'state' | 'deliveries' | 'dead' | 'discarded' | 'only_for' | 'attempt_log'
>;

/** The state of an event at a subscriber. */
export interface Delivery {
  readonly subscriber: string;
  readonly state: 'delivered' | 'waiting' | 'suspended' | 'given_up' | 'discarded' | 'expired';
  /** Time since which it is in that state; null while it waits. */
  readonly at: Date | null;
  /** Attempts that are known. Those of a subscriber that consumes its own queue are not. */
  readonly attempts: number;
  readonly last_error: string | null;
}

/** Returns a function that says where each of these events is, for every subscriber that takes it. */
export async function createDeliveriesOf(
  { collections, stores }: { readonly stores: Pick<Stores, 'subscribers'> } & Pick<Mongo, 'collections'>,
  eventIds: readonly string[],
): Promise<(row: Row & Pick<OutboxDocument, '_id'>) => Delivery[]> {
  const [subscribers, letters] = await Promise.all([
    stores.subscribers.list(),
    collections.deadLetters.find({ event_id: { $in: [...eventIds] } }).toArray(),
  ]);
  return (row) => {
    const own = letters.filter(({ event_id }) => event_id === row._id);
    const settled = { ...row.deliveries, ...row.dead, ...row.discarded };
    const names = new Set([...Object.keys(settled), ...waitingFor(row, subscribers)]);
    const parked = new Set(subscribers.flatMap(({ _id, parked_at }) => (parked_at === undefined ? [] : [_id])));
    return [...names].sort().map((name) => deliveryOf(row, name, { letters: own, isParked: parked.has(name) }));
  };
}

/** Returns the state of a delivery that was given up, of which only the dead letter is left. */
export function deliveryOfLetter({ subscriber, created_at, attempts, last_error }: DeadLetterDocument): Delivery {
  return { subscriber, state: 'given_up', at: created_at, attempts, last_error: maskEmailsIn(last_error) };
}

function waitingFor(row: Row, subscribers: readonly SubscriberDocument[]): string[] {
  return subscribers.flatMap(({ _id, configured_at, topics }) =>
    configured_at !== undefined && (topics?.includes(row.topic) ?? true) && isWaiting(row, _id) ? [_id] : [],
  );
}

function deliveryOf(
  row: Row,
  subscriber: string,
  { letters, isParked }: { readonly letters: readonly DeadLetterDocument[]; readonly isParked: boolean },
): Delivery {
  const letter = letters.find((each) => each.subscriber === subscriber);
  if (letter !== undefined) return deliveryOfLetter(letter);
  const attempts = (row.attempt_log ?? []).filter((attempt) => attempt.subscriber === subscriber);
  const { error } = attempts.at(-1) ?? {};
  const last_error = error === undefined ? null : maskEmailsIn(error);
  const counted = { subscriber, attempts: attempts.length, last_error };
  const [deliveredAt, discardedAt] = [row.deliveries[subscriber], row.discarded?.[subscriber]];
  if (deliveredAt !== undefined) return { ...counted, state: 'delivered', at: deliveredAt };
  if (discardedAt === undefined) return { ...counted, state: isParked ? 'suspended' : 'waiting', at: null };
  const hasExpired = attempts.at(-1)?.outcome === 'expired' || isExpired(row.event, discardedAt);
  return { ...counted, state: hasExpired ? 'expired' : 'discarded', at: discardedAt };
}
