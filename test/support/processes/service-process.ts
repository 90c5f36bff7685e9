import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { mainOf, nodeFor, type ServiceName } from '@auth-account/local-stack';
import { gatewayEnvironment } from '../service-environment.ts';
import { processEnvironment } from './process-environment.ts';

/** Exit code or signal of a process. */
interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A separate process. */
export interface OwnProcess {
  readonly pid: number;
  /** Returns its output so far. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  readonly exited: Promise<End>;
  /** Sends the signal, and returns how the process ended. */
  end(signal: NodeJS.Signals): Promise<End>;
}

/** A service as a separate process. */
export interface ServiceProcess extends OwnProcess {
  /** URL for apps: `http://…` or, of the gateway, `ws://…`. */
  readonly base: string;
  /** `http://…` of its probes. */
  readonly opsBase: string;
}

function startProcess(main: string, env: NodeJS.ProcessEnv) {
  const child = spawn(nodeFor(main), [main], {
    env: { ...processEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  let output = '';
  child.stderr.pipe(process.stderr, { end: false });
  for (const stream of [child.stderr, child.stdout]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      if (stream === child.stdout && process.env.TEST_LOG_LEVEL) process.stderr.write(chunk);
      output += chunk;
    });
  }
  const started: OwnProcess = {
    pid: child.pid ?? 0,
    output: () => output,
    signal: (name) => child.kill(name),
    exited,
    end(signal) {
      child.kill(signal);
      return exited;
    },
  };
  return { child, started };
}

/** Starts the process, and waits until it has logged the ports on which it listens. */
async function startService(
  name: ServiceName,
  env: NodeJS.ProcessEnv,
  listens: readonly string[],
): Promise<{ readonly started: OwnProcess; readonly ports: readonly string[] }> {
  const { child, started } = startProcess(mainOf(name), env);
  const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
  child.stdout.on('data', () => {
    const ports = listens.flatMap((what) => started.output().match(`"port":(\\d+)[^\\n]*"${what} listens"`)?.[1] ?? []);
    if (ports.length === listens.length) resolve(ports);
  });
  child.once('close', (code) =>
    reject(new Error(`${name} ended before it listened, with ${code}: ${started.output()}`)),
  );
  return { started, ports: await promise };
}

type Environment = Readonly<Record<string, string>>;

/** `env`: see {@link startGatewayProcess}. */
export async function startApiProcess(env: Environment): Promise<ServiceProcess> {
  const given = { API_PORT: '0', API_OPS_PORT: '0', ...env };
  const { started, ports } = await startService('api', given, ['api', 'ops server']);
  return { ...started, base: `http://127.0.0.1:${ports[0]}`, opsBase: `http://127.0.0.1:${ports[1]}` };
}

/**
 * Starts the process and waits until it listens. `env`: the environment of a fixture, and more. Throws with the exit
 * code and the output if the process ends first.
 */
export async function startGatewayProcess(env: Environment): Promise<ServiceProcess> {
  const given = { PUSH_PORT: '0', PUSH_OPS_PORT: '0', ...gatewayEnvironment(env) };
  const { started, ports } = await startService('push-gateway', given, ['push gateway', 'ops server']);
  return { ...started, base: `ws://127.0.0.1:${ports[0]}`, opsBase: `http://127.0.0.1:${ports[1]}` };
}

/**
 * Short intervals, so that tests need not wait; yet a worker that looks more often costs more than what it waits for.
 */
export const quickWorker = {
  RELAY_INTERVAL_MS: '100',
  DENY_LIST_INTERVAL_MS: '250',
  ERASURE_INTERVAL_MS: '250',
  ERASURE_DELAY_SECONDS: '0',
};

/** `env`: see {@link startGatewayProcess}. */
export async function startWorkerProcess(env: Environment): Promise<Omit<ServiceProcess, 'base'>> {
  const given = { WORKER_OPS_PORT: '0', LOG_LEVEL: 'info', ...quickWorker, ...env };
  const { started, ports } = await startService('worker', given, ['ops server']);
  return { ...started, opsBase: `http://127.0.0.1:${ports[0]}` };
}

/** Starts the example consumer as a separate process. `hangAt`: see consumer-main.ts. */
export function startConsumerProcess(
  env: Environment,
  subscriber: string,
  hangAt: 'commit' | 'acknowledgement',
): OwnProcess {
  const main = fileURLToPath(new URL('../worker/consumer-main.ts', import.meta.url));
  return startProcess(main, { ...env, SUBSCRIBER: subscriber, HANG_AT: hangAt }).started;
}
