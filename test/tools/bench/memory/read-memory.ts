import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '@auth-account/local-stack';
import type { HeapReport } from './heap-probe.ts';

/** Memory of a process, in MiB. */
export interface ProcessMemory {
  readonly resident: number;
  /** Files that are mapped: the program itself and its libraries. */
  readonly files: number;
  readonly heap: number;
  /** The rest of the heap after a collection of garbage. */
  readonly used: number;
  readonly code: number;
  readonly text: number;
  /** Everything else: buffers, the text of modules, native packages, stacks. */
  readonly native: number;
  readonly threads: number;
}

/** Reads the memory of a process that runs heap-probe.ts. */
export async function readMemory(pid: number, reports: string): Promise<ProcessMemory> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const numberOf = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  const file = join(reports, `${pid}.json`);
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  let report: HeapReport | undefined;
  const hasReported = async () => {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (text.endsWith('}')) report = JSON.parse(text);
    return report !== undefined;
  };
  await waitUntil(hasReported, { what: `the report of process ${pid}`, timeoutMs: 20_000, intervalMs: 50 });
  const { heap = 0, used = 0, code = 0, text = 0 } = report ?? {};
  const mib = (bytes: number) => bytes / 2 ** 20;
  return {
    ...{ resident: numberOf('VmRSS') / 1_024, files: numberOf('RssFile') / 1_024, threads: numberOf('Threads') },
    ...{ heap: mib(heap), used: mib(used), code: mib(code), text: mib(text) },
    native: numberOf('RssAnon') / 1_024 - mib(heap),
  };
}
