import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A process that answers calls of the functions `C` (`answer-calls.ts`). */
export interface CalledProcess<C extends Record<keyof C, (...args: never[]) => unknown>> {
  call<K extends keyof C>(name: K, ...args: Parameters<C[K]>): Promise<Awaited<ReturnType<C[K]>>>;
  close(): Promise<void>;
}

/**
 * Starts the process by a command. It ends when its stdin ends. `env`: variables beside those of the present process;
 * `limitMs`: limit for a call.
 */
export function openCalls<C extends Record<keyof C, (...args: never[]) => unknown>>(
  program: string,
  args: readonly string[],
  { env = {}, limitMs = 90_000 }: { readonly env?: Readonly<Record<string, string>>; readonly limitMs?: number } = {},
): CalledProcess<C> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  const exited = once(child, 'exit');
  const waiting = new Map<number, PromiseWithResolvers<never>>();
  let last = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result, error } = JSON.parse(line);
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(result as never);
    else call?.reject(new Error(error));
  });
  child.stdin.on('error', () => undefined); // its end is reported by `exit`
  child.on('exit', (status) => {
    const error = new Error(`the process (${program} ${args.join(' ')}) ended with ${status}`);
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  });
  return {
    call(name, ...args) {
      last += 1;
      const call = Promise.withResolvers<never>();
      waiting.set(last, call);
      const isLate = () => call.reject(new Error(`${String(name)} took longer than ${limitMs} ms`));
      const timer = setTimeout(isLate, limitMs);
      child.stdin.write(`${JSON.stringify({ id: last, name, args })}\n`);
      return call.promise.finally(() => clearTimeout(timer));
    },
    async close() {
      child.stdin.end();
      if (child.exitCode === null) child.kill('SIGTERM');
      await exited;
    },
  };
}
