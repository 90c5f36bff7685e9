import { loadConfig } from '@auth-account/config';
import { createLogger, createMetrics, type Logger } from '@auth-account/telemetry';
import { compose } from '@auth-account/worker/compose';
import { workerConfig } from '@auth-account/worker/config';
import { quickWorker } from '../processes/service-process.ts';
import { sumOf } from '../sum-of-metric.ts';

export interface TestWorker {
  /** Returns the sum of a metric's values with these labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  readiness(): Promise<Record<string, { readonly ok: boolean; readonly reason?: string }>>;
  /** Stops the worker in an orderly way, once. */
  close(): Promise<void>;
}

/** Starts a worker in this process. `env`: the result of `serviceEnvironment`, and more. */
export async function startTestWorker(
  env: Readonly<Record<string, string>>,
  logger: Logger = createLogger({ service: 'worker', level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
  overrides: Parameters<typeof compose>[1] = {},
): Promise<TestWorker> {
  const config = loadConfig(workerConfig, { env: { ...quickWorker, ...env } });
  const metrics = createMetrics({ service: 'worker' });
  const worker = await compose({ config, logger, metrics }, overrides);
  await worker.start();
  let closed: Promise<void> | undefined;
  return {
    metric: (name, labels) => sumOf(metrics.registry, name, labels),
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
