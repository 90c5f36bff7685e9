import { setTimeout as sleep } from 'node:timers/promises';

/** Longest time between two ticks that counts in full. Only a machine that stalls exceeds it. */
const maxTurnMs = 100;
const everyMs = 10;

/**
 * Counts time only while this process can run. If the machine, and with it all that is measured, stalls for seconds,
 * that adds only a tenth of a second. It is for upper bounds on work outside this process, because it does not count
 * work that blocks this process.
 */
export function startStopwatch() {
  let [last, sum] = [performance.now(), 0];
  const tick = () => {
    const now = performance.now();
    sum += Math.min(now - last, maxTurnMs);
    last = now;
  };
  const timer = setInterval(tick, everyMs);
  return {
    /** Returns the milliseconds so far, and ends the watch. */
    stop(): number {
      clearInterval(timer);
      tick();
      return sum;
    },
  };
}

/** Sleeps for this time, counted in the same way, so that other processes get all of it even if the machine stalls. */
export async function sleepAwake(ms: number): Promise<void> {
  for (let left = ms; left > 0; ) {
    const start = performance.now();
    await sleep(Math.min(left, everyMs));
    left -= Math.min(performance.now() - start, maxTurnMs);
  }
}
