import type { Stores } from '@auth-account/stores';
import { CommandError } from '../cli/command-error.ts';

/** Throws a `CommandError` that lists the known subscribers if the workers do not have this one. */
export async function requireSubscriber({ subscribers }: Stores, name: string): Promise<void> {
  const known = await subscribers.list();
  const names = known.flatMap(({ _id, configured_at }) => (configured_at === undefined ? [] : [_id])).sort();
  if (names.includes(name)) return;
  const there = names.length === 0 ? 'they have none' : `they have ${names.join(', ')}`;
  throw new CommandError(`The workers have no subscriber ${name} (EVENT_SUBSCRIBERS): ${there}.`);
}
