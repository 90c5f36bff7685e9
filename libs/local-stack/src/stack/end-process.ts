import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { hasCode } from '../has-code.ts';
import { waitUntil } from '../servers/wait-until.ts';

export interface ProcessRecord {
  readonly pid: number;
  /**
   * Text that only this process has in its command line. It is needed because another process may have the process id
   * by now.
   */
  readonly marker: string;
}

const TERM_TIMEOUT_MS = 10_000;

export async function isRunning({ pid, marker }: ProcessRecord): Promise<boolean> {
  return (await readCommandLine(pid))?.includes(marker) ?? false;
}

/**
 * Ends a process with this signal, and with SIGKILL after 10 s. The process need not be a child. Does nothing if the
 * process lacks the marker.
 */
export async function endProcess(record: ProcessRecord, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
  if (!(await isRunning(record))) return;
  process.kill(record.pid, signal);
  const hasEnded = async () => !(await isRunning(record));
  const what = `The end of process ${record.pid}`;
  await waitUntil(hasEnded, { what, timeoutMs: TERM_TIMEOUT_MS }).catch(async () => {
    process.kill(record.pid, 'SIGKILL');
    await waitUntil(hasEnded, { what, timeoutMs: TERM_TIMEOUT_MS });
  });
}

const run = promisify(execFile);

/**
 * Returns the command line of a process, or undefined if there is no process with this id. A zombie (ended, but not yet
 * waited for by its parent) does not count.
 */
async function readCommandLine(pid: number): Promise<string | undefined> {
  const line = process.platform === 'linux' ? await readFromProc(pid) : await readFromPs(pid);
  return line.trim() === '' ? undefined : line.trim();
}

async function readFromProc(pid: number): Promise<string> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return '';
    throw error;
  }
}

async function readFromPs(pid: number): Promise<string> {
  // ps exits with 1 if it finds no such process.
  return run('ps', ['-o', 'command=', '-p', String(pid)]).then(
    ({ stdout }) => stdout,
    () => '',
  );
}
