import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { hasCode } from '../has-code.ts';

const run = promisify(execFile);

/**
 * The command line of a process, or undefined when there is none of this number (one that has ended and waits for its
 * parent counts as none).
 */
export async function readCommandLine(pid: number): Promise<string | undefined> {
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
  // ps exits with 1 when it finds no such process.
  return run('ps', ['-o', 'command=', '-p', String(pid)]).then(
    ({ stdout }) => stdout,
    () => '',
  );
}
