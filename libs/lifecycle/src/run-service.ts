import { bareEmail, type Config, ConfigError, loadConfig, type runtimeConfig } from '@auth-account/config';
import type { Static, TObject } from '@auth-account/contracts/type';
import { createLogger, createMetrics, type Logger, type Metrics, stopTracing } from '@auth-account/telemetry';
import { createOpsServer } from './create-ops-server.ts';
import { installShutdown, type ShutdownStep } from './install-shutdown.ts';
import { type Check, runChecks } from './run-checks.ts';

const EX_CONFIG = 78; // sysexits.h

/** Arguments of `compose`. */
export interface ServiceContext<S extends TObject> {
  readonly config: Config<S>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A wired service, as `compose` returns it. It connects and listens only in `start`. */
export interface ServiceParts {
  readonly readiness: readonly Check[];
  /** Connects and listens. Once it resolves, the service is ready if the checks of `readiness` succeed. */
  readonly start: () => Promise<void>;
  /** Shutdown steps in order. Each step must also work after a `start` that failed halfway. */
  readonly shutdown: readonly ShutdownStep[];
}

export interface ServiceDefinition<S extends TObject<typeof runtimeConfig>> {
  readonly name: string;
  /** Configuration schema of the service, with the variables of `runtimeConfig`. */
  readonly schema: S;
  readonly opsPort: (config: Config<S>) => number;
  readonly compose: (context: ServiceContext<S>) => ServiceParts | Promise<ServiceParts>;
}

function loadConfigOrExit<S extends TObject>(name: string, schema: S): Config<S> {
  try {
    return loadConfig(schema);
  } catch (error) {
    exitIfWrongConfig(name, error);
    throw error;
  }
}

function exitIfWrongConfig(name: string, error: unknown): void {
  if (!(error instanceof ConfigError)) return;
  process.stderr.write(`${name}: ${error.message}\n`);
  process.exit(EX_CONFIG);
}

/**
 * Runs a service from its configuration to its exit. The process exits with 78 if the configuration is wrong or
 * `compose` throws a `ConfigError` (the table of problems is on stderr). It exits with 0 after an orderly stop on
 * SIGTERM or SIGINT, and with 1 after an uncaught error, a failed start, or a shutdown step that failed or hung.
 *
 * On a stop the service becomes unready at once. After `SHUTDOWN_DELAY_SECONDS` the steps run in their order, then the
 * ops server closes, and last the remaining spans are sent.
 *
 * @example
 * await runService({ name: 'worker', schema: workerConfig, opsPort: (config) => config.WORKER_OPS_PORT, compose });
 */
export async function runService<S extends TObject<typeof runtimeConfig>>(
  definition: ServiceDefinition<S>,
): Promise<void> {
  const config = loadConfigOrExit(definition.name, definition.schema);
  const runtime = config as Static<TObject<typeof runtimeConfig>>;
  const logger = createLogger({ service: definition.name, level: runtime.LOG_LEVEL, pretty: runtime.LOG_PRETTY });
  const metrics = createMetrics({ service: definition.name });

  let parts: ServiceParts | undefined;
  let started = false;
  const shutdown = installShutdown({
    logger,
    delayMs: runtime.SHUTDOWN_DELAY_SECONDS * 1_000,
    steps: () => [
      ...(parts?.shutdown ?? []),
      { name: 'ops server', run: ops.close, timeoutMs: 1_500 },
      {
        name: 'tracing',
        run: () => stopTracing((error) => logger.warn({ err: error }, 'spans were lost')),
        timeoutMs: 1_500,
      },
    ],
  });
  const lifecycle: Check = {
    name: 'lifecycle',
    run() {
      if (shutdown.isStopping()) return { ok: false, reason: 'stopping' };
      return started ? { ok: true } : { ok: false, reason: 'starting' };
    },
  };
  const checks = () => [lifecycle, ...(parts?.readiness ?? [])];
  metrics.watchReadiness(async () => (await runChecks(checks())).every(({ ok }) => ok));
  const ops = createOpsServer({
    host: runtime.BIND_ADDRESS && bareEmail(runtime.BIND_ADDRESS),
    port: definition.opsPort(config),
    checks,
    metrics,
    logger,
  });

  try {
    const { address, port } = await ops.listen();
    logger.info({ address, port }, 'ops server listens');
    parts = await definition.compose({ config, logger, metrics });
    if (shutdown.isStopping()) return;
    await parts.start();
    started = true;
    logger.info('started');
  } catch (error) {
    // `compose` threw, so nothing is connected yet and there is nothing to shut down.
    if (parts === undefined) exitIfWrongConfig(definition.name, error);
    shutdown.fail(error, 'start failed');
  }
}
