import { setTimeout as sleep } from 'node:timers/promises';

/** Longer than this process waits for its turn, but if the machine stands still. */
const longestTurnMs = 100;
const everyMs = 10;

export interface Stopwatch {
  /** Milliseconds so far. Ends the watch. */
  stop(): number;
}

/**
 * Counts time only while this process gets its turns: a machine that stands still for seconds, and with it what is measured, adds
 * a tenth of a second. For upper bounds of what runs beside this process; it does not see work that blocks this one.
 */
export function startStopwatch(): Stopwatch {
  let [last, sum] = [performance.now(), 0];
  const tick = () => {
    const now = performance.now();
    sum += Math.min(now - last, longestTurnMs);
    last = now;
  };
  const timer = setInterval(tick, everyMs);
  return {
    stop() {
      clearInterval(timer);
      tick();
      return sum;
    },
  };
}

/** Sleeps for so long by the same count: what has that much time is not cut short by a machine that stands still meanwhile. */
export async function sleepAwake(ms: number): Promise<void> {
  for (let left = ms; left > 0; ) {
    const start = performance.now();
    await sleep(Math.min(left, everyMs));
    left -= Math.min(performance.now() - start, longestTurnMs);
  }
}
