/**
 * Creates timers for tests. A timer of up to 5 s takes a hundredth of its time. Longer timers are time-outs, and run
 * only by `runLong`.
 */
export function createHurriedTimers() {
  const long = new Set<() => void>();
  return {
    after(ms: number, work: () => void) {
      const isLong = ms > 5_000;
      const run = () => {
        long.delete(run);
        clearTimeout(timer);
        work();
      };
      const timer = setTimeout(run, isLong ? ms : ms / 100);
      if (isLong) long.add(run);
      return () => {
        long.delete(run);
        clearTimeout(timer);
      };
    },
    /** Runs every timer of more than 5 s now. */
    runLong() {
      for (const run of [...long]) run();
    },
  };
}
