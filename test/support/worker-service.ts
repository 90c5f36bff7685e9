import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { loadConfig } from '@auth-account/config';
import { mainOf, nodeFor } from '@auth-account/local-stack';
import { createLogger, createMetrics, type Logger } from '@auth-account/telemetry';
import { compose } from '@auth-account/worker/compose';
import { workerConfig } from '@auth-account/worker/config';
import { processEnvironment } from './process-environment.ts';

export interface TestWorker {
  /** Returns the sum of a metric's values with these labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  readiness(): Promise<Record<string, { readonly ok: boolean; readonly reason?: string }>>;
  /** Stops the worker in an orderly way, once. */
  close(): Promise<void>;
}

/** Short intervals, so that tests need not wait; yet a worker that looks more often costs more than what it waits for. */
const quick = {
  RELAY_INTERVAL_MS: '100',
  DENY_LIST_INTERVAL_MS: '250',
  ERASURE_INTERVAL_MS: '250',
  ERASURE_DELAY_SECONDS: '0',
};

/** Starts a worker in this process. `env`: the result of `serviceEnvironment`, and more. */
export async function startTestWorker(
  env: Readonly<Record<string, string>>,
  logger: Logger = createLogger({ service: 'worker', level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
): Promise<TestWorker> {
  const config = loadConfig(workerConfig, { env: { ...quick, ...env } });
  const metrics = createMetrics({ service: 'worker' });
  const worker = await compose({ config, logger, metrics });
  await worker.start();
  let closed: Promise<void> | undefined;
  return {
    async metric(name, labels = {}) {
      const values = (await metrics.registry.getSingleMetric(name)?.get())?.values ?? [];
      const wanted = Object.entries(labels);
      const matching = values.filter((value) =>
        wanted.every(([label, text]) => (value.labels as Record<string, unknown>)[label] === text),
      );
      return matching.reduce((sum, { value }) => sum + value, 0);
    },
    async readiness() {
      const asked = worker.readiness.map(async ({ name, run }) => {
        const result = await Promise.resolve(run()).catch((error: Error) => ({ ok: false, reason: error.message }));
        return [name, result] as const;
      });
      return Object.fromEntries(await Promise.all(asked));
    },
    async close() {
      closed ??= (async () => {
        for (const step of worker.shutdown) await step.run();
      })();
      await closed;
    },
  };
}

/** A worker as a separate process. */
export interface WorkerProcess {
  readonly pid: number;
  readonly opsPort: number;
  /** Returns its standard output so far. */
  log(): string;
  /** Sends the signal, and returns how the process ended. */
  end(signal: NodeJS.Signals): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly exited: Promise<unknown>;
}

const main = mainOf('worker');

/** Starts a worker's process and waits until its ops server listens. */
export async function startWorkerProcess(env: Readonly<Record<string, string>>): Promise<WorkerProcess> {
  const child = spawn(nodeFor(main), [main], {
    env: { ...processEnvironment(), WORKER_OPS_PORT: '0', LOG_LEVEL: 'info', ...quick, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let log = '';
  const opsPort = Promise.withResolvers<number>();
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    if (process.env.TEST_LOG_LEVEL) process.stderr.write(chunk);
    log += chunk;
    const listens = /"port":(\d+)[^\n]*"ops server listens"/.exec(log);
    if (listens) opsPort.resolve(Number(listens[1]));
  });
  child.once('exit', () => opsPort.reject(new Error(`the worker ended before it listened: ${log}`)));
  return {
    pid: child.pid ?? 0,
    opsPort: await opsPort.promise,
    log: () => log,
    exited,
    async end(signal) {
      child.kill(signal);
      const [code, killedBy] = await exited;
      return { code, signal: killedBy };
    },
  };
}
