import type { Stores } from '@auth-account/stores';
import type { SubscriberDocument } from '@auth-account/stores/documents';
import { CommandError } from '../cli/command-error.ts';

/** Finds a subscriber. Throws a `CommandError` that lists the known ones if the workers do not have this one. */
export async function requireSubscriber({ subscribers }: Stores, name: string): Promise<SubscriberDocument> {
  const known = await subscribers.list();
  const configured = known.filter(({ configured_at }) => configured_at !== undefined);
  const found = configured.find(({ _id }) => _id === name);
  if (found !== undefined) return found;
  const names = configured.map(({ _id }) => _id).sort();
  const there = names.length === 0 ? 'they have none' : `they have ${names.join(', ')}`;
  throw new CommandError(`The workers have no subscriber ${name} (EVENT_SUBSCRIBERS): ${there}.`);
}
