/** Creates a clock that a test stops so that a short pause, such as the one after wrong passwords, does not end. */
export function createStoppableClock() {
  let stoppedAt: number | undefined;
  return {
    /** Returns the milliseconds since the epoch. */
    now: () => stoppedAt ?? Date.now(),
    /** Stops the clock during the work. */
    async stopped<T>(work: () => Promise<T>): Promise<T> {
      stoppedAt = Date.now();
      try {
        return await work();
      } finally {
        stoppedAt = undefined;
      }
    },
  };
}
