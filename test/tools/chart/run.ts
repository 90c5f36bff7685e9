import { execFile } from 'node:child_process';

export type Ran = Awaited<ReturnType<typeof run>>;

/** Runs a program to its end. A program that can't be started counts as failed. `output`: on stdout and stderr. */
export function run(
  program: string,
  args: readonly string[],
  { cwd, env = process.env }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
) {
  const { promise, resolve } = Promise.withResolvers<
    Readonly<Record<'stdout' | 'output', string>> & { isRight: boolean }
  >();
  execFile(program, args, { cwd, env, maxBuffer: 2 ** 27 }, (error, stdout, stderr) => {
    const reason = error && 'code' in error && error.code === 'ENOENT' ? error.message : '';
    resolve({ isRight: error === null, stdout, output: `${stdout}${stderr}${reason}`.trim() });
  });
  return promise;
}
