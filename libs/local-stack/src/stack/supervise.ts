import type { ChildProcess } from 'node:child_process';
import type { Log } from '../log.ts';
import { type PipedOptions, spawnPiped } from './spawn-piped.ts';

export interface SuperviseOptions extends PipedOptions {
  readonly name: string;
  /** Receives what the supervisor itself has to say. */
  readonly log: Log;
  /** Called instead of a restart when the process ends with EX_CONFIG (78): the same configuration will fail again. */
  readonly onWrongConfig?: () => void;
  /** Milliseconds before the first, second, … restart; the last one repeats. */
  readonly restartDelaysMs?: readonly number[];
}

export interface Supervised {
  readonly name: string;
  /** Undefined while the process does not run. */
  pid(): number | undefined;
  restarts(): number;
  /** Ends the process: SIGTERM, and SIGKILL after `graceMs` (12,000 unless told otherwise). It is not started again. */
  stop(graceMs?: number): Promise<void>;
  /**
   * Sends a signal as a fault would; the process is started again when it ends by that. SIGKILL unless told otherwise.
   */
  kill(signal?: NodeJS.Signals): void;
}

const EX_CONFIG = 78;
const RESTART_DELAYS_MS = [200, 1_000, 2_000, 5_000, 10_000, 30_000];
/** A process that has run for so long counts as recovered, and the delays begin anew. */
const RECOVERED_MS = 60_000;
const GRACE_MS = 12_000;

/**
 * Keeps a process running as Kubernetes would: one that ends is started again, after a delay that grows while it keeps
 * failing. The process gets a group of its own, so that Ctrl-C in a terminal reaches the caller alone, who ends things
 * in order.
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
