import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { mainOf, nodeFor, type ServiceName } from '@auth-account/local-stack';
import { type Environment, gatewayEnvironment } from '../service-environment.ts';
import { processEnvironment } from './process-environment.ts';

/** Exit code or signal of a process. */
interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export type OwnProcess = ReturnType<typeof startProcess>;

const running = new Set<ChildProcess>();

/** Kills the processes that a failed test has not ended. */
export function killOwnProcesses(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Starts a program as a separate process. */
export function startProcess(main: string, env: NodeJS.ProcessEnv, ...args: string[]) {
  const child = spawn(nodeFor(main), [main, ...args], {
    env: { ...processEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const exited = once(child, 'exit').then(([code, signal]): End => ({ code, signal }));
  let output = '';
  child.stderr.pipe(process.stderr, { end: false });
  for (const stream of [child.stderr, child.stdout]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      if (stream === child.stdout && process.env.TEST_LOG_LEVEL) process.stderr.write(chunk);
      output += chunk;
    });
  }
  return {
    child,
    pid: child.pid ?? 0,
    /** Returns its output so far. */
    output: () => output,
    signal: (name: NodeJS.Signals) => child.kill(name),
    exited,
    /** Sends the signal, and returns how the process ended. */
    end(signal: NodeJS.Signals) {
      child.kill(signal);
      return exited;
    },
  };
}

/** A service as a separate process. */
export type ServiceProcess = Awaited<ReturnType<typeof startService>>;

/**
 * Starts the process, and waits until it has logged the ports on which it listens; the last is that of its probes.
 * Throws with the exit code and the output if the process ends first.
 */
async function startService(name: ServiceName, listens: readonly string[], env: Environment) {
  const started = startProcess(mainOf(name), env);
  const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
  started.child.stdout.on('data', () => {
    const ports = listens.flatMap((what) => started.output().match(`"port":(\\d+)[^\\n]*"${what} listens"`)?.[1] ?? []);
    if (ports.length === listens.length) resolve(ports);
  });
  started.child.once('close', (code) =>
    reject(new Error(`${name} ended before it listened, with ${code}: ${started.output()}`)),
  );
  const ports = await promise;
  return {
    ...started,
    /** URL for apps: `http://…` or, of the gateway, `ws://…`. */
    base: `${name === 'push-gateway' ? 'ws' : 'http'}://127.0.0.1:${ports[0]}`,
    /** `http://…` of its probes. */
    opsBase: `http://127.0.0.1:${ports.at(-1)}`,
  };
}

/** Starts an api. `env`: the environment of a fixture, and more. */
export const startApiProcess = (env: Environment) =>
  startService('api', ['api', 'ops server'], { API_PORT: '0', API_OPS_PORT: '0', ...env });

/** Starts a gateway. `env`: see {@link startApiProcess}. */
export const startGatewayProcess = (env: Environment) =>
  startService('push-gateway', ['push gateway', 'ops server'], {
    ...{ PUSH_PORT: '0', PUSH_OPS_PORT: '0' },
    ...gatewayEnvironment(env),
  });

/**
 * Short intervals, so that tests need not wait; yet a worker that looks more often costs more than what it waits for.
 */
export const quickWorker = {
  RELAY_INTERVAL_MS: '100',
  DENY_LIST_INTERVAL_MS: '250',
  ERASURE_INTERVAL_MS: '250',
  ERASURE_DELAY_SECONDS: '0',
};

/** Starts a worker. `env`: see {@link startApiProcess}. */
export const startWorkerProcess = (env: Environment) =>
  startService('worker', ['ops server'], { WORKER_OPS_PORT: '0', LOG_LEVEL: 'info', ...quickWorker, ...env });

/** Starts the example consumer as a separate process. `hangAt`: see consumer-main.ts. */
export function startConsumerProcess(env: Environment, subscriber: string, hangAt: 'commit' | 'acknowledgement') {
  const main = fileURLToPath(new URL('../worker/consumer-main.ts', import.meta.url));
  return startProcess(main, { ...env, SUBSCRIBER: subscriber, HANG_AT: hangAt });
}
