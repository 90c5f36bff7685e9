import { execFile } from 'node:child_process';

export interface Ran {
  readonly isRight: boolean;
  readonly stdout: string;
  /** The output on stdout and stderr. */
  readonly output: string;
}

interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a program to its end. A program that can't be started counts as failed. */
export function run(
  program: string,
  args: readonly string[],
  { cwd, env = process.env }: RunOptions = {},
): Promise<Ran> {
  const { promise, resolve } = Promise.withResolvers<Ran>();
  execFile(program, args, { cwd, env, maxBuffer: 2 ** 27 }, (error, stdout, stderr) => {
    const reason = error && 'code' in error && error.code === 'ENOENT' ? error.message : '';
    resolve({ isRight: error === null, stdout, output: `${stdout}${stderr}${reason}`.trim() });
  });
  return promise;
}
