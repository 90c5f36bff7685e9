import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '@auth-account/local-stack';

export interface Program {
  readonly child: ChildProcess;
  /** Returns everything that the program has written to stdout and stderr so far. */
  output(): string;
  /** Waits until the output contains this text. Throws with the output if the program ends before that. */
  waitFor(text: string): Promise<void>;
  /** The program's exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** Starts a program with Node. `file` is its path relative to this directory. */
export function runProgram(file: string, env: NodeJS.ProcessEnv, args: readonly string[] = []): Program {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      text += chunk;
    });
  }
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  return {
    child,
    ended,
    output: () => text,
    async waitFor(wanted) {
      const check = async () => {
        if (text.includes(wanted)) return true;
        if (isOver()) throw new Error(`${file} ended without having written "${wanted}":\n${text}`);
        return false;
      };
      await waitUntil(check, { what: `"${wanted}" in the output of ${file}`, timeoutMs: 110_000 });
    },
  };
}
