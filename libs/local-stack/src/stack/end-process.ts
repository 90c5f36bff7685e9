import { waitUntil } from '../servers/wait-until.ts';
import { readCommandLine } from './read-command-line.ts';

export interface ProcessRecord {
  readonly pid: number;
  /**
   * Stands in the command line of this process and of no other; a number alone may have gone to somebody else's process
   * since.
   */
  readonly marker: string;
}

const TERM_TIMEOUT_MS = 10_000;

export async function isRunning({ pid, marker }: ProcessRecord): Promise<boolean> {
  return (await readCommandLine(pid))?.includes(marker) ?? false;
}

/**
 * Ends a process that need not be a child: by this signal, and by SIGKILL after 10 s. Does nothing to a process without
 * the marker.
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
