import type { DeadLetterStore, OutboxStore } from '@auth-account/stores';
import type { ErrorLog } from '../runtime/error-log.ts';
import type { Backlog } from '../runtime/metrics.ts';
import { createPoller, type Poller } from '../runtime/poller.ts';

export interface OutboxBacklogDeps {
  readonly outbox: Pick<OutboxStore, 'backlog'>;
  readonly deadLetters: Pick<DeadLetterStore, 'counts'>;
  readonly onError: ErrorLog;
}

export interface OutboxBacklog {
  readonly poller: Poller;
  /** The last count; undefined before the first. */
  last(): Backlog | undefined;
}

/** Milliseconds between two counts. */
const intervalMs = 5_000;

/** Limit for a count, because counting 100,000 index keys takes MongoDB some 50 ms. */
const countLimit = 100_000;

/** Counts, every five seconds, the events that wait in the outbox and the events that were given up. */
export function createOutboxBacklog({ outbox, deadLetters, onError }: OutboxBacklogDeps): OutboxBacklog {
  let backlog: Backlog | undefined;
  const poller = createPoller({
    async run() {
      backlog = { ...(await outbox.backlog(countLimit)), deadLetters: await deadLetters.counts(countLimit) };
    },
    intervalMs,
    onError,
  });
  return { poller, last: () => backlog };
}
