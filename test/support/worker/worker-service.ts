import { loadConfig } from '@auth-account/config';
import { createMetrics, type Logger } from '@auth-account/telemetry';
import { compose } from '@auth-account/worker/compose';
import { workerConfig } from '@auth-account/worker/config';
import { quietLogger } from '../fixture.ts';
import { quickWorker } from '../processes/service-process.ts';
import { type RunningService, runService } from '../running-service.ts';
import type { Environment } from '../service-environment.ts';

export type TestWorker = RunningService;

/** Starts a worker in this process. `env`: the environment of a fixture, and more. */
export async function startTestWorker(
  env: Environment,
  logger: Logger = quietLogger('worker'),
  overrides: Parameters<typeof compose>[1] = {},
): Promise<TestWorker> {
  const config = loadConfig(workerConfig, { env: { ...quickWorker, ...env } });
  const metrics = createMetrics({ service: 'worker' });
  return runService(await compose({ config, logger, metrics }, overrides), metrics);
}
