import { isExpired } from '@auth-account/messaging';
import type { Stores } from '@auth-account/stores';
import type { OutboxDocument } from '@auth-account/stores/documents';
import { isMissed, type Replayed } from '@auth-account/stores/replay';
import { CommandError, exitCodes } from '../../cli/command-error.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { fieldList, table } from '../../cli/table.ts';
import { type EventSelection, selectDeadLetters, selectRows } from './select-events.ts';
import { requireSubscriber } from './subscribers.ts';

export interface ReplayOptions extends EventSelection {
  readonly deadLetters?: true | undefined;
  readonly missing?: true | undefined;
  readonly yes?: true | undefined;
  readonly dryRun?: true | undefined;
}

interface Target {
  readonly eventId: string;
  readonly subscriber: string | undefined;
}

/**
 * Orders events to be sent again under their own ids: the named events, or all that the options select. It asks for a
 * confirmation first. Without ids a selection is required, so that a forgotten option does not send everything.
 */
export async function replayEvents(
  stores: Stores,
  eventIds: readonly string[],
  options: ReplayOptions,
  shell: Shell,
): Promise<Outcome> {
  const until = options.until ?? shell.now();
  checkUsage(eventIds, { ...options, until });
  const { subscriber } = options;
  const topics = subscriber === undefined ? undefined : (await requireSubscriber(stores, subscriber)).topics;
  const isWanted = wantedBy(options, topics, shell.now());
  const targets = () => selectTargets(stores, eventIds, { ...options, until }, isWanted);
  const selected = await count(targets());
  const gap: Gap = eventIds.length > 0 ? {} : await findGap(stores, options, shell.now());
  const spell = (...text: string[]) => [...explainGap(gap), ...text].join('\n');
  if (options.dryRun) {
    return { json: { selected, dry_run: true, ...gap }, text: spell(`Would be sent again: ${selected}`) };
  }
  if (selected === 0) throw new CommandError(spell('There is nothing to send again.'));
  if (!options.yes) await shell.confirm(spell(questionOf(selected, options)));
  const sent = { selected, ...(await sendAgain(stores, targets(), options, shell.now)), ...gap };
  const exitCode = sent.replayed === 0 ? exitCodes.negative : exitCodes.ok;
  const { skips, ...counts } = sent;
  const why = skips.map(({ event_id, reason }) => [event_id, reason]);
  const text = [fieldList(counts), ...(why.length === 0 ? [] : [table(['skipped', 'reason'], why)])].join('\n\n');
  return { json: sent, text, exitCode };
}

function checkUsage(eventIds: readonly string[], options: ReplayOptions & { readonly until: Date }): void {
  const { deadLetters, missing, subscriber, since, until, state } = options;
  const refuse = (why: string) => {
    throw new CommandError(why, { exitCode: exitCodes.usage });
  };
  const isSelective = deadLetters || since !== undefined || state !== undefined;
  if (eventIds.length === 0 && !isSelective)
    refuse('Name events, or select them by --dead-letters, --since or --state.');
  if (missing && subscriber === undefined) refuse('--missing needs --subscriber.');
  if (since !== undefined && since >= until) refuse('--since must be before --until, and before now.');
}

/** Creates the filter for the events to send, for the subscriber if one is given. */
function wantedBy({ subscriber, missing }: ReplayOptions, topics: readonly string[] | undefined, now: Date) {
  return (row: OutboxDocument) =>
    (topics?.includes(row.topic) ?? true) &&
    !isExpired(row.event, now) &&
    (!missing || subscriber === undefined || isMissed(row, subscriber));
}

interface Gap {
  readonly incomplete_before?: Date;
}

/**
 * Finds the time before which the selected span may be incomplete, because delivered rows are kept only for a while.
 */
async function findGap({ outbox }: Stores, { since, deadLetters }: ReplayOptions, now: Date): Promise<Gap> {
  const seconds = since === undefined || deadLetters ? undefined : await outbox.retentionSeconds();
  if (since === undefined || seconds === undefined) return {};
  const kept = new Date(now.getTime() - seconds * 1_000);
  return since < kept ? { incomplete_before: kept } : {};
}

function explainGap({ incomplete_before }: Gap): string[] {
  if (incomplete_before === undefined) return [];
  return [`--since is too early: what was delivered before ${incomplete_before.toISOString()} is no longer kept.`];
}

function questionOf(selected: number, { deadLetters, subscriber }: ReplayOptions): string {
  const what = `${deadLetters ? 'dead letter' : 'event'}${selected === 1 ? '' : 's'}`;
  return `Send ${selected} ${what} again${subscriber === undefined ? '' : ` to ${subscriber}`}?`;
}

async function sendAgain(
  { replay }: Stores,
  targets: AsyncGenerator<Target>,
  { deadLetters, missing }: ReplayOptions,
  now: () => Date,
): Promise<{ replayed: number; deliveries: number; skipped: number; skips: { event_id: string; reason: string }[] }> {
  const sent = { replayed: 0, deliveries: 0, skipped: 0, skips: [] as { event_id: string; reason: string }[] };
  for await (const { eventId, subscriber } of targets) {
    const order = { eventId, deadOnly: deadLetters === true, missingOnly: missing === true, at: now() };
    const replayed = await replay({ ...order, ...(subscriber === undefined ? {} : { subscriber }) });
    const { to, reason } = replayed;
    sent[reason === undefined ? 'replayed' : 'skipped'] += 1;
    sent.deliveries += to.length;
    if (reason !== undefined) sent.skips.push({ event_id: eventId, reason: explainSkip(replayed, subscriber) });
  }
  return sent;
}

function explainSkip({ reason, waitingFor = [] }: Replayed, subscriber: string | undefined): string {
  switch (reason) {
    case 'unknown':
      return 'there is no such event';
    case 'waiting':
      return `it waits for ${waitingFor.join(', ')}: authctl events retry ${waitingFor.join('; authctl events retry ')}`;
    case 'not_configured':
      return 'the workers do not have its subscriber, or it does not take such events';
    default:
      return subscriber === undefined ? 'no subscriber had it' : `${subscriber} has it, or is not to get it`;
  }
}

/**
 * Returns the ids of the events to send, in the order of their creation. Named ids are passed on unchecked, because the
 * replay reports unknown ids.
 */
async function* selectTargets(
  stores: Stores,
  eventIds: readonly string[],
  { deadLetters, ...selection }: ReplayOptions,
  isWanted: (row: OutboxDocument) => boolean,
): AsyncGenerator<Target> {
  const { subscriber } = selection;
  if (eventIds.length > 0) {
    for (const eventId of eventIds) yield { eventId, subscriber };
  } else if (deadLetters) {
    for await (const letter of selectDeadLetters(stores, withoutState(selection))) {
      yield { eventId: letter.event_id, subscriber: letter.subscriber };
    }
  } else {
    // A subscriber that was configured after the events gets all of them, not only those that were sent to it before.
    const { state, since, until } = selection;
    for await (const row of selectRows(stores, { state, since, until })) {
      if (isWanted(row)) yield { eventId: row._id, subscriber };
    }
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
