import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A server under load. */
export interface ServerProcess {
  readonly pid: number;
  readonly port: number;
  /** Ends the process, by default with SIGKILL. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

export interface ServerOptions {
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
  /** Finds the port in the line that the server prints when it listens. */
  readonly listening: RegExp;
}

/** Starts a server, and waits until it listens. If it ends instead, throws an error with its output. */
export async function startServer({ command, env, listening }: ServerOptions): Promise<ServerProcess> {
  const [program, ...args] = command;
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  const port = Promise.withResolvers<number>();
  let output = '';
  const read = (chunk: string) => {
    if (output.length < 65_536) output += chunk;
    const found = listening.exec(output)?.[1];
    if (found !== undefined) port.resolve(Number(found));
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', read);
  exited.then(() => port.reject(new Error(`${command.join(' ')} ended before it listened: ${output}`)), port.reject);
  return {
    port: await port.promise,
    pid: child.pid ?? 0,
    async end(signal = 'SIGKILL') {
      child.kill(signal);
      await exited;
    },
  };
}
