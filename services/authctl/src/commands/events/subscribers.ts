import type { Stores } from '@auth-account/stores';
import type { SubscriberDocument } from '@auth-account/stores/documents';
import { CommandError } from '../../cli/command-error.ts';
import type { Outcome } from '../../cli/shell.ts';
import { table } from '../../cli/table.ts';

const countLimit = 1_000_000;

/** Lists subscribers that are or were configured, or have dead letters. */
export async function listSubscribers({ subscribers, deadLetters }: Stores): Promise<Outcome> {
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
  const rows = list.map((one) => [
    one.name,
    one.configured ? 'yes' : 'no',
    one.parked_at,
    one.parked_by_event,
    one.resumed_at,
    one.dead_letters,
  ]);
  const head = ['subscriber', 'configured', 'suspended', 'by event', 'resumed', 'dead letters'];
  const text = rows.length === 0 ? 'No worker has had a subscriber, and there are no dead letters.' : table(head, rows);
  return { json: { subscribers: list }, text };
}

/** Finds a subscriber. If the workers do not have it, throws a `CommandError` that lists the known subscribers. */
export async function requireSubscriber({ subscribers }: Stores, name: string): Promise<SubscriberDocument> {
  const known = await subscribers.list();
  const configured = known.filter(({ configured_at }) => configured_at !== undefined);
  const found = configured.find(({ _id }) => _id === name);
  if (found !== undefined) return found;
  const names = configured.map(({ _id }) => _id).sort();
  const there = names.length === 0 ? 'they have none' : `they have ${names.join(', ')}`;
  throw new CommandError(`The workers have no subscriber ${name} (EVENT_SUBSCRIBERS): ${there}.`);
}
