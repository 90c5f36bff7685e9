import type { Log } from '../log.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const REPEAT_MS = 1_000;

/**
 * Aborts the returned signal at the first SIGINT, SIGTERM or SIGHUP. npm passes Ctrl-C on to a child that the terminal
 * has told already, so that whatever comes within a second is the same wish; a later signal is a person who won't wait,
 * and calls `force`.
 */
export function watchSignals(log: Log, force: () => void): AbortSignal {
  const controller = new AbortController();
  let firstAt: number | undefined;
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (firstAt === undefined) {
        firstAt = performance.now();
        log(`Stopping (${name}); another signal after a second forces it`);
        controller.abort(new Error(name));
      } else if (performance.now() - firstAt > REPEAT_MS) {
        force();
      }
    });
  }
  return controller.signal;
}
