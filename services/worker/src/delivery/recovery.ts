import type { ErrorLog } from '../runtime/error-log.ts';
import type { BringForward } from './bring-forward.ts';

export interface RecoveryDeps {
  readonly bringForward: BringForward;
  /** Ages after the recovery, in ms, at which the events are brought forward that have failed again by then. */
  readonly repeatAfterMs: readonly number[];
  readonly onBroughtForward: (events: number) => void;
  readonly onError: ErrorLog;
  /** The host's clock, in ms since the epoch. */
  readonly hostNow: () => number;
}

/** Brings the events forward that wait for a subscriber, once it takes events again. */
export interface Recovery {
  /** To be called whenever the subscriber has taken an event. */
  onTaken(): void;
  /** Brings forward what failed before an operator's order, of the age `ageMs`, once for each order. */
  retry(orderedAt: number, ageMs: number): void;
}

/**
 * Silence of a subscriber, in ms, after which a failure is not the event's own. Without this limit, an event that is
 * always refused would be tried after each other event.
 */
const silenceMs = 10_000;

/** Ages at which a recovery is repeated for a subscriber whose events may be tried any number of times. */
export const repeatsOfRecovery: readonly number[] = [30_000, 90_000, 210_000];

/**
 * Creates the recovery of one subscriber. The first event that the subscriber takes after a silence brings those
 * forward whose attempts began during the silence. At the next events past the ages of `repeatAfterMs`, this is done
 * again, because a subscriber that has just come back may refuse some. An event that fails beside successes waits as
 * long as its own pauses say.
 *
 * Each worker knows only its own deliveries. What it brings forward then was perhaps tried once more than needed.
 */
export function createRecovery(deps: RecoveryDeps): Recovery {
  const { bringForward, repeatAfterMs, onBroughtForward, onError, hostNow } = deps;
  const last = repeatAfterMs.at(-1) ?? 0;
  let takenAt = Number.NEGATIVE_INFINITY;
  let outage: { readonly from: number; readonly endedAt: number } | undefined;
  let due: number[] = [];
  let isRunning = false;
  let handled = Number.NEGATIVE_INFINITY;

  async function run(from: number, until: number): Promise<boolean> {
    isRunning = true;
    try {
      const count = await bringForward({ from, until });
      if (count > 0) onBroughtForward(count);
      return true;
    } catch (error) {
      onError(error);
      return false;
    } finally {
      isRunning = false;
    }
  }

  return {
    onTaken() {
      const at = hostNow();
      const isOver = outage === undefined || at - outage.endedAt > last;
      if (isOver && at - takenAt >= silenceMs) {
        outage = { from: takenAt + silenceMs, endedAt: at };
        due = [0, ...repeatAfterMs];
      }
      takenAt = at;
      const { from = at, endedAt = at } = outage ?? {};
      const passed = due.filter((age) => at - endedAt >= age);
      if (passed.length === 0 || isRunning) return;
      void run(from, at).then((isDone) => {
        if (isDone && outage?.endedAt === endedAt) due = due.filter((age) => !passed.includes(age));
      });
    },
    retry(orderedAt, ageMs) {
      if (orderedAt <= handled || isRunning) return;
      // The queues keep the host's time, and orders MongoDB's.
      void run(Number.NEGATIVE_INFINITY, hostNow() - ageMs).then((isDone) => {
        if (isDone) handled = orderedAt;
      });
    },
  };
}
