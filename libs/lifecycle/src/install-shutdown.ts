import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@auth-account/telemetry';
import closeWithGrace from 'close-with-grace';
import { onStopSignal } from './on-stop-signal.ts';
import { runShutdownSteps, type ShutdownStep } from './run-shutdown-steps.ts';

const STEPS_BUDGET_MS = 9_000;
const EXIT_LIMIT_MS = 10_000;

// Stop signals are onStopSignal's; a handler for the others would turn a crash (SIGSEGV …) into an endless loop.
const EVERY_SIGNAL: closeWithGrace.Signals[] = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGSEGV',
  'SIGUSR2',
  'SIGTERM',
];

export interface ShutdownOptions {
  readonly logger: Logger;
  /** Time between the wish to stop and the first step, in ms. */
  readonly delayMs: number;
  /** Asked when the stop begins. */
  readonly steps: () => readonly ShutdownStep[];
}

export interface Shutdown {
  /** True from the first signal or error on. */
  isStopping(): boolean;
  /** Logs the error as fatal and begins a stop that ends with exit 1. While stopping it only logs. */
  fail(error: unknown, message: string): void;
}

/**
 * Sees to it that the process ends in order: on SIGTERM, SIGINT, SIGHUP (exit 0), on an error that nobody caught, on
 * `fail`, or where a step failed or hung (exit 1). From the first step to the exit it takes 10 s at most. After a failure
 * the delay is left out: what the process still answers can't be trusted.
 */
export function installShutdown({ logger, delayMs, steps }: ShutdownOptions): Shutdown {
  const state = { stopping: false, failed: false };

  async function stop({ err }: { err?: Error }): Promise<void> {
    state.stopping = true;
    if (err) {
      state.failed = true;
      logger.fatal({ err }, 'uncaught error: stopping');
    }
    if (!state.failed) await sleep(delayMs);
    const start = performance.now();
    const stopped = await runShutdownSteps(steps(), STEPS_BUDGET_MS, logger);
    const exitCode = stopped && !state.failed ? 0 : 1;
    logger.info({ ms: Math.round(performance.now() - start), exitCode }, 'stopped');
    if (exitCode !== 0) process.exit(exitCode); // on return, close-with-grace exits with 0
  }

  const grace = closeWithGrace(
    {
      delay: delayMs + EXIT_LIMIT_MS,
      logger: false,
      skip: EVERY_SIGNAL,
      onSecondError: (error) => logger.fatal({ err: error }, 'uncaught error while stopping: exit'),
      onTimeout: (ms) => logger.fatal({ ms }, 'shutdown took too long: exit'),
    },
    stop,
  );
  onStopSignal(logger, () => {
    if (!state.stopping) grace.close();
  });

  return {
    isStopping: () => state.stopping,
    fail(error, message) {
      logger.fatal({ err: error }, message);
      if (state.stopping) return;
      state.failed = true;
      grace.close();
    },
  };
}
