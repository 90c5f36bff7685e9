import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

interface CommandOptions {
  readonly input?: string;
  readonly cwd?: string;
  /** Limit in milliseconds, by default two minutes. */
  readonly timeoutMs?: number;
}

/** Runs a program and returns its stdout. Throws an error with all of its output if it does not exit with 0. */
export async function runCommand(
  program: string,
  args: readonly string[],
  { input = '', cwd, timeoutMs = 120_000 }: CommandOptions = {},
): Promise<string> {
  const running = execute(program, args, { cwd, timeout: timeoutMs, maxBuffer: 2 ** 28 });
  running.child.stdin?.on('error', () => undefined); // a program that ends without reading reports why by its status
  running.child.stdin?.end(input);
  const { stdout } = await running.catch(({ code, killed, stdout: out, stderr: err, ...cause }) => {
    const why = killed ? `took longer than ${timeoutMs} ms` : `exit ${code}`;
    throw new Error(`${program} ${args.join(' ')}: ${why}\n${out.slice(-2_000)}${err.slice(-4_000)}`, { cause });
  });
  return stdout;
}
