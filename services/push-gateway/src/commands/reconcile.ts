import { closeReasonOf, type DenyList, DenyListUnavailable } from '@auth-account/messaging/deny-list';
import { overlapMs } from '@auth-account/redis/deny-list-reader';
import type { Logger } from '@auth-account/telemetry';
import type { PushMetrics } from '../runtime/metrics.ts';
import type { ConnectionRegistry } from '../streams/connection-registry.ts';

export interface ReconcileDeps {
  readonly registry: Pick<ConnectionRegistry, 'sessions' | 'has' | 'close'>;
  readonly denyList: Pick<DenyList, 'find' | 'recent'>;
  /** Milliseconds between two rounds. */
  readonly intervalMs: number;
  readonly metrics: Pick<PushMetrics, 'reconcileRounds' | 'reconcileClosed'>;
  readonly logger: Logger;
}

export interface Reconcile {
  /** Starts a round over every session, now or after the round that is under way. */
  wholeRound(): void;
  start(): void;
  /** Starts no more rounds, and resolves when the current round has ended. */
  stop(): Promise<void>;
}

const retryMs = 250;
/**
 * Milliseconds after the start during which the list may still be missing, because the worker has not written it yet.
 */
const startMs = 5_000;
/**
 * Interval of the rounds over all sessions, in ms. They are a safety net, for example for an entry that is missing from
 * the sorted set of revocations.
 */
const wholeEveryMs = 30_000;
const sessionsPerQuestion = 500;

/** Closes the denied streams, chunk by chunk, so that the event loop is not blocked. */
async function closeDenied({ registry, denyList }: ReconcileDeps, sessionIds: readonly string[]): Promise<number> {
  let closed = 0;
  for (let start = 0; start < sessionIds.length; start += sessionsPerQuestion) {
    const chunk = sessionIds.slice(start, start + sessionsPerQuestion);
    const denials = await denyList.find(chunk);
    for (const [index, sessionId] of chunk.entries()) {
      const denial = denials[index];
      if (denial !== undefined) closed += registry.close(sessionId, (ver) => closeReasonOf(denial, ver));
    }
  }
  return closed;
}

/**
 * Runs the two kinds of rounds. Each returns how many streams it closed, and throws if the deny list is not available.
 */
function createRounds(deps: ReconcileDeps) {
  const { registry, denyList } = deps;
  /** Redis's time from which the next recent round reads. */
  let since = 0;
  /** Time at which `since` was read, by this process's clock, which is never set back. */
  let askedAt = 0;
  let lastWhole = 0;

  async function whole(): Promise<number> {
    const asked = performance.now();
    // Redis's time is read first, so that a session that is denied during this round counts as new in the next.
    const { until } = await denyList.recent(Number.MAX_SAFE_INTEGER);
    const closed = await closeDenied(deps, registry.sessions());
    since = until;
    askedAt = asked;
    lastWhole = performance.now();
    return closed;
  }

  return {
    /** Returns true until a round over all sessions has been completed. */
    isFirst: () => lastWhole === 0,
    isWholeDue: () => performance.now() - lastWhole >= wholeEveryMs,
    whole,
    async recent(): Promise<number> {
      const asked = performance.now();
      const { sessionIds, until } = await denyList.recent(since);
      // Redis's clock was set back, so sessions that were denied since have a time that counts as already read.
      if (until - since < performance.now() - askedAt - overlapMs) return whole();
      const closed = await closeDenied(deps, sessionIds.filter(registry.has));
      since = until;
      askedAt = asked;
      return closed;
    },
  };
}

/**
 * Closes the streams whose close commands were lost. At every interval a round reads the new entries of the deny list.
 * On request, after a failure, after Redis's clock was set back, and every 30 s, a round reads the entries of all
 * sessions here. If the list is not available, no stream closes, and the next round comes soon. Rounds never overlap.
 *
 * No round finds a session whose entry has expired, but by then the stream has outlived its token.
 */
export function createReconcile(deps: ReconcileDeps): Reconcile {
  const { intervalMs, metrics, logger } = deps;
  const rounds = createRounds(deps);
  let isWholeDue = true;
  let isAvailable = true;
  let isWarned = false;
  let startedAt = 0;
  let isStopped = true;
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<void> | undefined;

  function report(error: unknown): void {
    const isStarting = rounds.isFirst() && performance.now() - startedAt < startMs;
    if (!(error instanceof DenyListUnavailable)) logger.error({ err: error }, 'reconcile failed');
    else if (isStarting && isAvailable) logger.info('deny list not available yet: upgrades are refused');
    else if (!(isStarting || isWarned)) {
      logger.warn({ err: error }, 'deny list not available: streams stay, upgrades are refused');
      isWarned = true;
    }
    isAvailable = false;
  }

  async function round(): Promise<void> {
    const kind = isWholeDue || rounds.isWholeDue() ? 'whole' : 'recent';
    isWholeDue = false;
    try {
      const closed = await rounds[kind]();
      metrics.reconcileRounds.inc({ kind, result: 'done' });
      metrics.reconcileClosed.inc(closed);
      if (!isAvailable) logger.info(isWarned ? 'deny list available again' : 'deny list available');
      isAvailable = true;
      isWarned = false;
    } catch (error) {
      metrics.reconcileRounds.inc({ kind, result: 'unavailable' });
      isWholeDue = true;
      report(error);
    }
  }

  function run(): void {
    clearTimeout(timer);
    if (isStopped || underWay !== undefined) return;
    underWay = round().finally(() => {
      underWay = undefined;
      if (isStopped) return;
      const wasAsked = isWholeDue && isAvailable;
      if (wasAsked) run();
      else timer = setTimeout(run, isAvailable ? intervalMs : Math.min(retryMs, intervalMs));
    });
  }

  return {
    wholeRound() {
      isWholeDue = true;
      run();
    },
    start() {
      isStopped = false;
      startedAt = performance.now();
      // The first round is delayed a little, because Redis is not connected yet when the process starts.
      timer = setTimeout(run, Math.min(retryMs, intervalMs));
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await underWay;
    },
  };
}
