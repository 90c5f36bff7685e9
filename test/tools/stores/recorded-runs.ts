import { readFile, writeFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import type { ServerName } from './named-servers.ts';

export interface RecordedRun {
  readonly store: ServerName;
  readonly product: string;
  readonly version: string;
  readonly passed: number;
  /** Number of tests that failed twice. */
  readonly failed: number;
  readonly skipped: number;
  /** The machine of the run, in words. */
  readonly where: string;
  /** The day of the run. */
  readonly date: string;
}

const file = new URL('runs.json', import.meta.url);

/** Returns the last run on each store. */
export async function readRuns(): Promise<readonly RecordedRun[]> {
  return JSON.parse(await readFile(file, 'utf8'));
}

/** Name of the workflow's machine in the table. */
export const onGithub = 'GitHub (`ci.yml`)';

/** Records a run of today on this machine, which replaces the last run on the same store. */
export async function recordRun(run: Omit<RecordedRun, 'date' | 'where'>): Promise<void> {
  const others = (await readRuns()).filter(({ store }) => store !== run.store);
  const { PRETTY_NAME = '?' } = parseEnv(await readFile('/etc/os-release', 'utf8'));
  const where = process.env.GITHUB_ACTIONS ? onGithub : PRETTY_NAME;
  const runs = [...others, { ...run, where, date: new Date().toISOString().slice(0, 10) }];
  await writeFile(file, `${JSON.stringify(runs, null, 2)}\n`);
}
