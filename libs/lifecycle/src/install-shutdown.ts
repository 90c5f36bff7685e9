import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@auth-account/telemetry';
import closeWithGrace from 'close-with-grace';
import { withTimeLimit } from './with-time-limit.ts';

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** Milliseconds within which another stop signal counts as the same request. */
const REPEAT_MS = 1_000;
const STEPS_BUDGET_MS = 9_000;
const EXIT_LIMIT_MS = 10_000;

// Signals that close-with-grace skips. `onStopSignal` handles the stop signals. A handler for the other signals would
// turn a crash (SIGSEGV …) into an endless loop.
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

/** One step of an orderly shutdown. */
export interface ShutdownStep {
  readonly name: string;
  readonly run: () => void | Promise<void>;
  /** Limit in ms. */
  readonly timeoutMs: number;
}

export interface ShutdownOptions {
  readonly logger: Logger;
  /** Time from the stop signal to the first step, in ms. */
  readonly delayMs: number;
  /** Called when the stop begins. */
  readonly steps: () => readonly ShutdownStep[];
}

export interface Shutdown {
  /** Returns true from the first signal or error on. */
  isStopping(): boolean;
  /** Logs the error as fatal and begins a stop that ends with exit 1. During a stop it only logs. */
  fail(error: unknown, message: string): void;
}

/**
 * Ends the process in order on SIGTERM, SIGINT and SIGHUP (exit 0), and on an uncaught error or `fail` (exit 1). If a
 * step fails or hangs, the exit code is 1 too. The time from the first step to the exit is at most 10 s. After an error
 * the steps begin without delay, because the process's answers can't be trusted any more.
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

/**
 * Calls `stop` at the first SIGTERM, SIGINT or SIGHUP. Another signal within a second counts as the same request,
 * because npm forwards Ctrl-C to a child that the terminal has already signalled. A later signal means that the sender
 * won't wait, so the process exits with 1 at once.
 */
function onStopSignal(logger: Logger, stop: () => void): void {
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
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
}

async function runStep(step: ShutdownStep, limitMs: number, logger: Logger): Promise<boolean> {
  const start = performance.now();
  const took = () => Math.round(performance.now() - start);
  try {
    await withTimeLimit(limitMs, step.run);
    logger.info({ step: step.name, ms: took() }, 'shutdown step done');
    return true;
  } catch (error) {
    logger.error({ step: step.name, ms: took(), limitMs, err: error }, 'shutdown step failed');
    return false;
  }
}

/**
 * Runs the steps one after another. A step that fails, or hangs past its limit, is logged, and the next one runs.
 * Together, the steps take at most `budgetMs`. After that, the remaining steps are started but not waited for.
 *
 * @returns true if every step succeeded
 */
async function runShutdownSteps(steps: readonly ShutdownStep[], budgetMs: number, logger: Logger): Promise<boolean> {
  const deadline = performance.now() + budgetMs;
  let ok = true;
  for (const step of steps) {
    const left = Math.max(0, Math.round(deadline - performance.now()));
    ok = (await runStep(step, Math.min(step.timeoutMs, left), logger)) && ok;
  }
  return ok;
}
