import { setTimeout as sleep } from 'node:timers/promises';

/** Longest wait of this process for its turn, unless the machine stalls. */
const longestTurnMs = 100;
const everyMs = 10;

export interface Stopwatch {
  /** Returns the milliseconds so far, and ends the watch. */
  stop(): number;
}

/**
 * Counts time only while this process gets its turns: a machine that stalls for seconds, and everything measured with
 * it, adds a tenth of a second. It is for upper bounds on work outside this process, and does not see work that blocks
 * this one.
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

/**
 * Sleeps for this time, counted in the same way, so that the work has all of it even if the machine stalls meanwhile.
 */
export async function sleepAwake(ms: number): Promise<void> {
  for (let left = ms; left > 0; ) {
    const start = performance.now();
    await sleep(Math.min(left, everyMs));
    left -= Math.min(performance.now() - start, longestTurnMs);
  }
}
