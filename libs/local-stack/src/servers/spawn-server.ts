import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';

export interface ServerOptions {
  readonly name: string;
  readonly binary: string;
  readonly args: readonly string[];
  /** Standard output and error are appended to this file. */
  readonly logFile: string;
  /** Called as soon as the process exists. */
  readonly onSpawn?: OnSpawn;
  /** Called if the process has ended without a call to `end`. */
  readonly onUnexpectedExit?: () => void;
}

/** Called each time a process is started. It is meant for guards and for files that list processes. */
export type OnSpawn = (pid: number) => void;

export interface ServerProcess {
  readonly pid: number;
  /** Settles when the process has ended, for any reason. */
  readonly exited: Promise<void>;
  isRunning(): boolean;
  /**
   * Sends the signal, sends SIGKILL after 15 s, and waits for the end of the process. Does nothing if the process has
   * already ended.
   */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Returns the last lines of the log file, for error messages. */
  readLogTail(): Promise<string>;
}

const GRACE_MS = 15_000;

/**
 * Starts a server in its own process group. In a terminal, Ctrl-C reaches all processes of the foreground group at
 * once, so in that group the databases would end before the services that use them.
 */
export async function spawnServer(options: ServerOptions): Promise<ServerProcess> {
  const output = openSync(options.logFile, 'a');
  const child = spawn(options.binary, options.args, {
    detached: true,
    stdio: ['ignore', output, output],
    // mongod and Redis 7.2 refuse to start under a locale that is not installed.
    env: { ...process.env, LC_ALL: 'C' },
  });
  closeSync(output);
  await once(child, 'spawn');
  if (child.pid === undefined) throw new Error(`${options.name}: ${options.binary} did not start`);
  options.onSpawn?.(child.pid);
  let isEnding = false;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
      if (!isEnding) options.onUnexpectedExit?.();
    });
  });
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid,
    exited,
    isRunning,
    async end(signal) {
      isEnding = true;
      if (!isRunning()) return;
      child.kill(signal);
      const force = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
      await exited;
      clearTimeout(force);
    },
    readLogTail: () => readTail(options.logFile),
  };
}

const TAIL_BYTES = 8192;

async function readTail(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, start);
    return buffer.toString('utf8', 0, bytesRead).trim();
  } finally {
    await file.close();
  }
}
