/** A clock for an api that a test can stop. */
export interface StoppableClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Stops the clock during the work. */
  stopped<T>(work: () => Promise<T>): Promise<T>;
}

/** Creates a clock that a test stops so that a short pause, such as the one after wrong passwords, does not end. */
export function createStoppableClock(): StoppableClock {
  let stoppedAt: number | undefined;
  return {
    now: () => stoppedAt ?? Date.now(),
    async stopped(work) {
      stoppedAt = Date.now();
      try {
        return await work();
      } finally {
        stoppedAt = undefined;
      }
    },
  };
}
