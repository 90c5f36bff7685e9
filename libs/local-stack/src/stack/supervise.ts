import type { ChildProcess } from 'node:child_process';
import type { Log } from '../log.ts';
import { type PipedOptions, spawnPiped } from './spawn-piped.ts';

export interface SuperviseOptions extends PipedOptions {
  readonly name: string;
  /** Receives messages of the supervisor itself. */
  readonly log: Log;
  /**
   * Called instead of a restart if the process ends with EX_CONFIG (78), because the same configuration would fail
   * again.
   */
  readonly onWrongConfig?: () => void;
  /** Pauses before the first, second, … restart, in milliseconds. The last pause repeats. */
  readonly restartDelaysMs?: readonly number[];
}

export interface Supervised {
  readonly name: string;
  /** Returns the process id, or undefined while the process does not run. */
  pid(): number | undefined;
  restarts(): number;
  /** Ends the process with SIGTERM, and with SIGKILL after `graceMs` (default 12,000). It is not restarted. */
  stop(graceMs?: number): Promise<void>;
  /**
   * Sends a signal (default SIGKILL) to simulate a fault. If the process ends because of the signal, it is restarted.
   */
  kill(signal?: NodeJS.Signals): void;
}

const EX_CONFIG = 78;
const RESTART_DELAYS_MS = [200, 1_000, 2_000, 5_000, 10_000, 30_000];
/** Time after which a running process counts as recovered, in milliseconds. The delays then start over. */
const RECOVERED_MS = 60_000;
const GRACE_MS = 12_000;

/**
 * Keeps a process running, like Kubernetes: a process that ends is restarted after a delay that grows with each
 * failure. The process gets its own process group, so that Ctrl-C in a terminal reaches only the caller, which shuts
 * everything down in order.
 */
export function supervise(options: SuperviseOptions): Supervised {
  const delays = options.restartDelaysMs ?? RESTART_DELAYS_MS;
  let child: ChildProcess | undefined;
  let closed: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let isStopping = false;
  let restarts = 0;
  let failures = 0;

  const start = () => {
    const startedAt = performance.now();
    const current = spawnPiped(options);
    child = current;
    closed = new Promise((resolve) => current.once('close', resolve));
    current.once('error', (error) => options.log(`${options.name}: ${error.message}`));
    current.once('close', (code, signal) => {
      child = undefined;
      if (isStopping) return;
      failures = performance.now() - startedAt > RECOVERED_MS ? 0 : failures;
      const how = signal === null ? `exit code ${code}` : signal;
      if (code === EX_CONFIG && options.onWrongConfig !== undefined) {
        options.log(`${options.name}: ended with ${how}: its configuration is wrong`);
        options.onWrongConfig();
        return;
      }
      const delay = delays[Math.min(failures, delays.length - 1)] ?? 0;
      options.log(`${options.name}: ended with ${how}, is started again in ${delay / 1000} s`);
      failures += 1;
      restarts += 1;
      timer = setTimeout(start, delay);
    });
  };
  start();

  return {
    name: options.name,
    pid: () => child?.pid,
    restarts: () => restarts,
    kill: (signal = 'SIGKILL') => {
      child?.kill(signal);
    },
    async stop(graceMs = GRACE_MS) {
      isStopping = true;
      clearTimeout(timer);
      if (child === undefined) return;
      child.kill('SIGTERM');
      const force = setTimeout(() => {
        options.log(`${options.name}: did not end within ${graceMs / 1000} s and is killed`);
        child?.kill('SIGKILL');
      }, graceMs);
      await closed;
      clearTimeout(force);
    },
  };
}
