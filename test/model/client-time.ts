import type { Timers } from '../../libs/client/src/platform/platform.ts';

/** A clock that stands still until the course moves it. While it stands, real requests are answered. */
export interface VirtualTime extends Timers {
  now(): number;
  /** Does work that the clock waits for. */
  busy<T>(work: () => Promise<T>): Promise<T>;
  /** Lets this many milliseconds pass, with all that happens in them. */
  pass(ms: number): Promise<void>;
}

export function createVirtualTime(): VirtualTime {
  const waiting = new Set<{ readonly at: number; readonly work: () => void }>();
  let now = 0;
  let works = 0;
  let begun = 0;

  /** Waits until no request is at the services and no promise has work left. */
  async function rest(): Promise<void> {
    for (let calm = 0, seen = begun; calm < 2; ) {
      await new Promise((resolve) => setImmediate(resolve));
      calm = works === 0 && seen === begun ? calm + 1 : 0;
      seen = begun;
    }
  }

  function nextUntil(end: number) {
    let next: { readonly at: number; readonly work: () => void } | undefined;
    for (const timer of waiting) if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer;
    return next;
  }

  return {
    now: () => now,
    after(ms, work) {
      const timer = { at: now + Math.max(ms, 0), work };
      waiting.add(timer);
      begun += 1;
      return () => waiting.delete(timer);
    },
    async busy(work) {
      works += 1;
      begun += 1;
      try {
        return await work();
      } finally {
        works -= 1;
      }
    },
    async pass(ms) {
      const end = now + ms;
      await rest();
      for (let next = nextUntil(end); next !== undefined; next = nextUntil(end)) {
        waiting.delete(next);
        now = Math.max(now, next.at);
        next.work();
        await rest();
      }
      now = end;
    },
  };
}
