import type { ErrorLog } from './error-log.ts';

export interface Poller {
  start(): void;
  /** Begins the next round at once, or as soon as the present one has ended. */
  trigger(): void;
  /** Begins no further round, and resolves when the present one has ended. */
  stop(): Promise<void>;
}

export interface PollerOptions {
  readonly run: () => Promise<void>;
  /** Pause between the end of a round and the beginning of the next. */
  readonly intervalMs: number;
  readonly onError: ErrorLog;
}

/** Runs the same work again and again, one round at a time. After a failed round, the next round runs as usual. */
export function createPoller({ run, intervalMs, onError }: PollerOptions): Poller {
  let stopped = false;
  let wake = Promise.withResolvers<void>();
  let ended: Promise<void> | undefined;

  async function loop(): Promise<void> {
    while (!stopped) {
      wake = Promise.withResolvers();
      try {
        await run();
      } catch (error) {
        onError(error);
      }
      const timer = setTimeout(wake.resolve, intervalMs);
      if (!stopped) await wake.promise;
      clearTimeout(timer);
    }
  }

  return {
    start() {
      ended ??= loop();
    },
    trigger() {
      wake.resolve();
    },
    async stop() {
      stopped = true;
      wake.resolve();
      await ended;
    },
  };
}
