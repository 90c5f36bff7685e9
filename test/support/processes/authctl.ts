import { execFile } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runAuthctl } from '@auth-account/authctl/run';
import { mainOf } from '@auth-account/local-stack';
import { processEnvironment } from './process-environment.ts';

/** Outcome of a command line. */
export interface AuthctlRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface AuthctlOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Answer of a person at the terminal, or a function that returns it. Undefined if nobody is there. */
  readonly answer?: string | (() => Promise<string>);
  readonly now?: () => Date;
}

/** Runs a command line in this process. */
export async function authctl(args: readonly string[], options: AuthctlOptions = {}): Promise<AuthctlRun> {
  const { answer } = options;
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const stderr = new PassThrough({
    transform(chunk, _encoding, done) {
      if (typeof answer === 'function' && String(chunk).includes('[y/N]')) {
        answer().then(
          (found) => stdin.end(`${found}\n`),
          (error: Error) => stderr.destroy(error),
        );
      }
      done(null, chunk);
    },
  });
  const [out, err] = [text(stdout), text(stderr)];
  if (typeof answer === 'string') stdin.end(`${answer}\n`);
  const exitCode = await runAuthctl(args, {
    stdin,
    stdout,
    stderr,
    isInteractive: answer !== undefined,
    hasProgress: false,
    now: options.now ?? (() => new Date()),
    env: options.env ?? {},
  });
  stdout.end();
  stderr.end();
  return { exitCode, stdout: await out, stderr: await err };
}

/** Runs a command line with `--json` and returns the parsed output. Throws if it did not exit with `exitCode`. */
// biome-ignore lint/suspicious/noExplicitAny: each test knows the shape that it asserts.
export async function authctlJson(args: readonly string[], options: AuthctlOptions = {}, exitCode = 0): Promise<any> {
  const run = await authctl([...args, '--json'], options);
  if (run.exitCode !== exitCode) throw new Error(`authctl exited with ${run.exitCode}: ${run.stdout}${run.stderr}`);
  return JSON.parse(run.stdout === '' ? run.stderr : run.stdout);
}

const main = mainOf('authctl');

/** Runs a command line as a separate process. */
export function authctlProcess(args: readonly string[], env: Readonly<Record<string, string>>): Promise<AuthctlRun> {
  const { promise, resolve } = Promise.withResolvers<AuthctlRun>();
  execFile(process.execPath, [main, ...args], { env: { ...processEnvironment(), ...env } }, (error, stdout, stderr) => {
    resolve({ exitCode: Number(error?.code ?? 0), stdout, stderr });
  });
  return promise;
}

/** Returns the lines of the audit log, which a command writes to stderr as JSON. */
export function auditLinesOf(stderr: string): Record<string, unknown>[] {
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line));
}
