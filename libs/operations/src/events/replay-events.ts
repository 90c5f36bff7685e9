import { isExpired } from '@auth-account/messaging';
import type { Stores } from '@auth-account/stores';
import type { OutboxDocument } from '@auth-account/stores/documents';
import { isMissed, type Replayed } from '@auth-account/stores/replay';
import { OperationError, type OperationErrorCode } from '../operation-error.ts';
import { type EventSelection, selectDeadLetters, selectRows } from './select-events.ts';
import { type EventContext, requireSubscriber } from './subscribers.ts';

export interface ReplayOptions extends EventSelection {
  /** Events to send. Without ids, the other options must select events. */
  readonly eventIds: readonly string[];
  /** Sends each event only to the subscribers for which it was given up. */
  readonly deadLetters?: boolean | undefined;
  /** Sends only events that the subscriber never received because it was added later. */
  readonly missing?: boolean | undefined;
}

interface Target {
  readonly eventId: string;
  readonly subscriber: string | undefined;
}

/** An event that was not sent again. */
interface Skip {
  readonly event_id: string;
  readonly reason: string;
  /** Subscribers for which the event waits already; a retry sends it to them. */
  readonly waiting_for: readonly string[];
}

interface Gap {
  /** Time before which the selected span may be incomplete, because delivered rows are kept only for a while. */
  readonly incomplete_before?: Date;
}

/**
 * Plans to send events again under their own ids: the named events, or all that the options select. Without ids a
 * selection is required, so that a forgotten option does not send everything. The plan may select nothing; its run then
 * throws an `OperationError` of the kind `unknown`. Throws an `OperationError`: `invalid` if the options do not go
 * together, `unknown` if the workers do not have the subscriber.
 */
export async function planReplay({ stores, now }: EventContext, options: ReplayOptions) {
  const bounded = { ...options, until: options.until ?? now() };
  checkOptions(bounded);
  const { subscriber, eventIds } = options;
  const topics = subscriber === undefined ? undefined : (await requireSubscriber(stores, subscriber)).topics;
  const isWanted = wantedBy(options, topics, now());
  const targets = () => selectTargets(stores, bounded, isWanted);
  const selected = await count(targets());
  const gap = eventIds.length > 0 ? {} : await findGap(stores, options, now());
  return {
    selected,
    gap,
    ...(selected > 0 && { question: questionOf(selected, options) }),
    async run() {
      if (selected === 0) throw new OperationError('unknown', 'There is nothing to send again.');
      return { selected, ...(await sendAgain(stores, targets(), options, now)), ...gap };
    },
  };
}

function checkOptions({ eventIds, deadLetters, missing, subscriber, since, until, state }: ReplayOptions): void {
  const refuse = (code: OperationErrorCode, why: string) => {
    throw new OperationError('invalid', why, { code });
  };
  const isSelective = deadLetters || since !== undefined || state !== undefined;
  if (eventIds.length === 0 && !isSelective)
    refuse('nothing_selected', 'Name events, or select dead letters, a time or a state.');
  if (missing && subscriber === undefined) refuse('missing_needs_subscriber', 'Name the subscriber that lacks events.');
  if (since !== undefined && until !== undefined && since >= until)
    refuse('span_is_empty', 'The time must begin before it ends, and before now.');
}

/** Creates the filter for the events to send, for the subscriber if one is given. */
function wantedBy({ subscriber, missing }: ReplayOptions, topics: readonly string[] | undefined, now: Date) {
  return (row: OutboxDocument) =>
    (topics?.includes(row.topic) ?? true) &&
    !isExpired(row.event, now) &&
    (!missing || subscriber === undefined || isMissed(row, subscriber));
}

async function findGap({ outbox }: Stores, { since, deadLetters }: ReplayOptions, now: Date): Promise<Gap> {
  const seconds = since === undefined || deadLetters ? undefined : await outbox.retentionSeconds();
  if (since === undefined || seconds === undefined) return {};
  const kept = new Date(now.getTime() - seconds * 1_000);
  return since < kept ? { incomplete_before: kept } : {};
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
) {
  const sent = { replayed: 0, deliveries: 0, skipped: 0, skips: [] as Skip[] };
  for await (const { eventId, subscriber } of targets) {
    const order = { eventId, deadOnly: deadLetters === true, missingOnly: missing === true, at: now() };
    const replayed = await replay({ ...order, ...(subscriber === undefined ? {} : { subscriber }) });
    const { to, reason, waitingFor: waiting_for = [] } = replayed;
    sent[reason === undefined ? 'replayed' : 'skipped'] += 1;
    sent.deliveries += to.length;
    if (reason === undefined) continue;
    sent.skips.push({ event_id: eventId, reason: explainSkip(replayed, subscriber), waiting_for });
  }
  return sent;
}

function explainSkip({ reason, waitingFor = [] }: Replayed, subscriber: string | undefined): string {
  switch (reason) {
    case 'unknown':
      return 'there is no such event';
    case 'waiting':
      return `it waits for ${waitingFor.join(', ')}`;
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
  { eventIds, deadLetters, ...selection }: ReplayOptions,
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
