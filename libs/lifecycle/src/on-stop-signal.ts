import type { Logger } from '@auth-account/telemetry';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const REPEAT_MS = 1_000;

/**
 * Calls `stop` at the first SIGTERM, SIGINT or SIGHUP. Another one within a second is the same wish again (npm passes
 * Ctrl-C on to a child that the terminal has already told), a later one is a person who won't wait: exit 1 at once.
 */
export function onStopSignal(logger: Logger, stop: () => void): void {
  let first: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (first === undefined) {
      first = performance.now();
      logger.info({ signal }, 'stopping');
      stop();
    } else if (performance.now() - first > REPEAT_MS) {
      logger.fatal({ signal }, 'second signal: exit without finishing the shutdown');
      process.exit(1);
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
}
