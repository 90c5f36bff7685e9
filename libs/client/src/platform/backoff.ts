import type { Platform } from './platform.ts';

export interface Backoff {
  /** Plans the next try: after a random time that grows with each, and never before `atLeastMs`. */
  schedule(atLeastMs?: number): void;
  /** Plans it after exactly that time. */
  scheduleAt(ms: number): void;
  cancel(): void;
  /** Cancels it, and plans nothing any more. */
  close(): void;
  /** The next pause is the shortest again. */
  reset(): void;
}

/**
 * Runs `work` after growing random pauses: 0 to 1 s, to 2 s, to 4 s … to `mostMs` (docs/push.md, "Close codes"). The
 * full range is random, so that apps which failed together do not come back together.
 */
export function createBackoff(
  { timers, random }: Pick<Platform, 'timers' | 'random'>,
  mostMs: number,
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
      const range = Math.min(mostMs, 1000 * 2 ** tries);
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
