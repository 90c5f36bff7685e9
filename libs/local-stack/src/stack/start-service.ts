import { get } from 'node:http';
import { dirname, join } from 'node:path';
import type { Log } from '../log.ts';
import { projectRoot } from '../project-root.ts';
import type { OnSpawn } from '../servers/spawn-server.ts';
import { waitUntil } from '../servers/wait-until.ts';
import { nodeFor } from './service-node.ts';
import { SERVICES, type ServiceName, type ServicePlan, STACK } from './service-plan.ts';
import { runOnce } from './spawn-piped.ts';
import { type Supervised, supervise } from './supervise.ts';

/** Returns the arguments that start tracing if the `OTEL_*` variables ask for it. */
function tracingArguments(main: string): string[] {
  return ['--import', main.endsWith('.js') ? join(dirname(main), 'preload.js') : '@auth-account/telemetry/preload'];
}

export interface StartServiceOptions {
  /** Complete environment of the process. It must include the service's ops port. */
  readonly env: NodeJS.ProcessEnv;
  /** Receives each line of the service's output. */
  readonly onLine: Log;
  /** Receives the supervisor's messages about restarts. */
  readonly log: Log;
  readonly onSpawn?: OnSpawn;
  readonly onWrongConfig?: () => void;
  /** Pauses before the first, second, … restart, in milliseconds. The last pause repeats. */
  readonly restartDelaysMs?: readonly number[];
}

export interface LocalService extends Supervised {
  /** Waits until `/readyz` answers 200. After `timeoutMs` (default 60,000) it throws an error with the last answer. */
  waitUntilReady(timeoutMs?: number): Promise<void>;
}

/**
 * Starts a service as a separate process, and restarts it when it dies. The service is ready only after
 * `waitUntilReady`.
 */
export function startService(service: ServiceName | ServicePlan, options: StartServiceOptions): LocalService {
  const plan = typeof service === 'string' ? SERVICES[service] : service;
  const port = options.env[plan.opsPortVariable];
  if (!port) throw new Error(`${plan.opsPortVariable} must be set to start the ${plan.name}.`);
  const supervised = supervise({
    ...options,
    name: plan.name,
    command: nodeFor(plan.main),
    args: [...tracingArguments(plan.main), plan.main],
    cwd: projectRoot,
  });
  return {
    ...supervised,
    waitUntilReady: (timeoutMs) => waitUntilReady(plan.name, `http://127.0.0.1:${port}/readyz`, timeoutMs),
  };
}

/**
 * Creates the indexes of the collections. This is needed once before the services start, and is harmless afterwards.
 * Throws if it fails.
 */
export async function runMigrations(
  options: Pick<StartServiceOptions, 'env' | 'onLine' | 'onSpawn'>,
  script = STACK.migrate,
): Promise<void> {
  await runOnce({ ...options, name: 'migrate', command: nodeFor(script), args: [script], cwd: projectRoot });
}

const TIMEOUT_MS = 60_000;

/** Polls a readiness probe until it answers 200. */
async function waitUntilReady(name: string, url: string, timeoutMs = TIMEOUT_MS): Promise<void> {
  let answer = 'no answer';
  const check = async () => {
    const { status, text } = await probe(url);
    answer = text;
    return status === 200;
  };
  await waitUntil(check, { what: `${name} ready`, timeoutMs }).catch((error: Error) => {
    throw new Error(`${error.message}; ${url}: ${answer}`);
  });
}

/** Asks the probe once, without an agent, so that no connection is kept. */
async function probe(url: string): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: 2_000 }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, text }));
      response.on('error', (error) => resolve({ status: undefined, text: error.message }));
    });
    request.on('timeout', () => request.destroy(new Error('no answer within 2 s')));
    request.on('error', (error) => resolve({ status: undefined, text: error.message }));
  });
}
