import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface CommandOptions {
  readonly input?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Limit in milliseconds, by default two minutes. */
  readonly timeoutMs?: number;
}

/** Runs a program and returns its stdout. Throws an error with all of its output if it does not exit with 0. */
export async function runCommand(
  program: string,
  args: readonly string[],
  { input = '', cwd, env = {}, timeoutMs = 120_000 }: CommandOptions = {},
): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, signal });
  const exited = new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve);
    child.on('error', reject);
  });
  child.stdin.on('error', () => undefined); // a program that ends without reading reports why by its status
  child.stdin.end(input);
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), exited]).catch(
    (error) => {
      const why = signal.aborted ? `took longer than ${timeoutMs} ms` : (error as Error).message;
      throw new Error(`${program} ${args.join(' ')}: ${why}`, { cause: error });
    },
  );
  if (status === 0) return stdout;
  throw new Error(`${program} ${args.join(' ')}: exit ${status}\n${stdout.slice(-2_000)}${stderr.slice(-4_000)}`);
}
