import type { Stores } from '@auth-account/stores';
import { CommandError } from '../cli/command-error.ts';
import { exitCodes } from '../cli/exit-codes.ts';
import type { Outcome, Shell } from '../cli/shell.ts';
import { fieldList } from '../cli/table.ts';
import { requireSubscriber } from './require-subscriber.ts';
import { type EventSelection, selectDeadLetters, selectRows } from './select-events.ts';

export interface ReplayOptions extends EventSelection {
  readonly deadLetters?: true | undefined;
  readonly yes?: true | undefined;
  readonly dryRun?: true | undefined;
}

interface Target {
  readonly eventId: string;
  readonly subscriber: string | undefined;
}

/**
 * Orders events to be sent again under their own ids: the named ones, or all that the options select. Asks first.
 * Without ids a selection is required, so that a forgotten option does not send everything.
 */
export async function replayEvents(
  stores: Stores,
  eventIds: readonly string[],
  options: ReplayOptions,
  shell: Shell,
): Promise<Outcome> {
  const isSelective = options.deadLetters || options.since !== undefined || options.state !== undefined;
  if (eventIds.length === 0 && !isSelective) {
    throw new CommandError('Name events, or select them by --dead-letters, --since or --state.', {
      exitCode: exitCodes.usage,
    });
  }
  if (options.subscriber !== undefined) await requireSubscriber(stores, options.subscriber);
  const until = options.until ?? shell.now();
  const targets = () => selectTargets(stores, eventIds, { ...options, until });
  const selected = await count(targets());
  if (options.dryRun) return { json: { selected, dry_run: true }, text: `Would be sent again: ${selected}` };
  if (selected === 0) throw new CommandError('There is nothing to send again.');
  if (!options.yes) await shell.confirm(questionOf(selected, options));
  const sent = { selected, ...(await sendAgain(stores, targets(), options, shell.now)) };
  const exitCode = sent.replayed === 0 ? exitCodes.negative : exitCodes.ok;
  return { json: sent, text: fieldList(sent), exitCode };
}

function questionOf(selected: number, { deadLetters, subscriber }: ReplayOptions): string {
  const what = `${deadLetters ? 'dead letter' : 'event'}${selected === 1 ? '' : 's'}`;
  return `Send ${selected} ${what} again${subscriber === undefined ? '' : ` to ${subscriber}`}?`;
}

async function sendAgain(
  { replay }: Stores,
  targets: AsyncGenerator<Target>,
  { deadLetters }: ReplayOptions,
  now: () => Date,
): Promise<{ replayed: number; deliveries: number; skipped: number }> {
  const sent = { replayed: 0, deliveries: 0, skipped: 0 };
  for await (const { eventId, subscriber } of targets) {
    const order = { eventId, deadOnly: deadLetters === true, at: now() };
    const names = await replay({ ...order, ...(subscriber === undefined ? {} : { subscriber }) });
    sent[names.length === 0 ? 'skipped' : 'replayed'] += 1;
    sent.deliveries += names.length;
  }
  return sent;
}

/**
 * Returns the ids of the events to send, in the order of their creation. A named id is passed on as it is: the replay
 * reports if it is unknown.
 */
async function* selectTargets(
  stores: Stores,
  eventIds: readonly string[],
  { deadLetters, ...selection }: ReplayOptions,
): AsyncGenerator<Target> {
  const { subscriber } = selection;
  if (eventIds.length > 0) {
    for (const eventId of eventIds) yield { eventId, subscriber };
  } else if (deadLetters) {
    for await (const letter of selectDeadLetters(stores, withoutState(selection))) {
      yield { eventId: letter.event_id, subscriber: letter.subscriber };
    }
  } else {
    // All events go to a subscriber that was configured later, not only those that it has had.
    const { subscriber: _, ...others } = selection;
    for await (const row of selectRows(stores, others)) yield { eventId: row._id, subscriber };
  }
}

function withoutState({ subscriber, since, until }: EventSelection): Omit<EventSelection, 'state'> {
  return { subscriber, since, until };
}

async function count(targets: AsyncGenerator<Target>): Promise<number> {
  let total = 0;
  for await (const _ of targets) total += 1;
  return total;
}
