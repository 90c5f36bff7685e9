import type { Platform } from './platform.ts';

export interface Backoff {
  /** Plans the next try after `atLeastMs` plus a random time. The range of the random time grows with each try. */
  schedule(atLeastMs?: number): void;
  /** Plans the next try after exactly `ms` milliseconds. */
  scheduleAt(ms: number): void;
  cancel(): void;
  /** Cancels the planned try, and plans no more. */
  close(): void;
  /** Makes the next pause the shortest again. */
  reset(): void;
}

/**
 * Runs `work` after random pauses of up to 1 s, 2 s, 4 s and so on, up to `maxMs` (docs/push.md, "Close codes"). A
 * pause may be anything from 0 to that limit, so that apps that failed together do not come back together.
 */
export function createBackoff(
  { timers, random }: Pick<Platform, 'timers' | 'random'>,
  maxMs: number,
  work: () => unknown,
): Backoff {
  let tries = 0;
  let isClosed = false;
  let cancelTimer: (() => void) | undefined;

  function cancel(): void {
    cancelTimer?.();
    cancelTimer = undefined;
  }

  function scheduleAt(ms: number): void {
    cancel();
    if (!isClosed) cancelTimer = timers.after(ms, work);
  }

  return {
    schedule(atLeastMs = 0) {
      const range = Math.min(maxMs, 1000 * 2 ** tries);
      tries = Math.min(tries + 1, 20);
      scheduleAt(atLeastMs + random() * range);
    },
    scheduleAt,
    cancel,
    close() {
      isClosed = true;
      cancel();
    },
    reset() {
      tries = 0;
    },
  };
}
