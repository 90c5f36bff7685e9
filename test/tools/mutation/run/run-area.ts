import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessGuard } from '../../../support/create-process-guard.ts';
import type { Area, Part } from '../areas.ts';
import type { StrykerReport } from '../results.ts';
import { strykerOptions } from './stryker-options.ts';

export interface RunAreaOptions {
  /** The copy of the project. */
  readonly root: string;
  /** The path of Stryker's program. */
  readonly stryker: string;
  /** The directory for reports, logs, and the data that Stryker keeps between runs. */
  readonly output: string;
  readonly env: NodeJS.ProcessEnv;
  /** True to run also mutants whose files, according to Stryker, have not changed. */
  readonly force: boolean;
  readonly guard: ProcessGuard;
  readonly log: (line: string) => void;
}

/** Runs the parts of an area one after another, and returns their reports. Throws if Stryker gives up. */
export async function runArea(area: Area, options: RunAreaOptions): Promise<StrykerReport[]> {
  await mkdir(options.output, { recursive: true });
  const reports: StrykerReport[] = [];
  for (const [index, part] of area.parts.entries()) {
    const start = performance.now();
    const report = await runPart(part, join(options.output, `${area.name}-${index + 1}`), options);
    reports.push(report);
    const mutants = Object.values(report.files).reduce((sum, file) => sum + file.mutants.length, 0);
    const seconds = Math.round((performance.now() - start) / 1_000);
    options.log(
      `${area.name} ${index + 1}/${area.parts.length}: ${mutants} mutants in ${seconds} s (${part.sources.join(', ')})`,
    );
  }
  return reports;
}

async function runPart(part: Part, path: string, options: RunAreaOptions): Promise<StrykerReport> {
  const { root, force } = options;
  const report = `${path}.json`;
  const config = join(root, 'stryker.config.json');
  const input = { part, root, report, incremental: `${path}.incremental.json`, force };
  await writeFile(config, JSON.stringify(strykerOptions(input), undefined, 2));
  await rm(report, { force: true });
  await runStryker(config, `${path}.log`, options);
  return JSON.parse(await readFile(report, 'utf8')) as StrykerReport;
}

async function runStryker(
  config: string,
  logFile: string,
  { root, stryker, env, guard }: RunAreaOptions,
): Promise<void> {
  const child = spawn(process.execPath, [stryker, 'run', config], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid !== undefined) guard.watch(child.pid);
  const log = createWriteStream(logFile);
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const [code, signal] = await once(child, 'close');
  log.end();
  if (code !== 0) throw new Error(`Stryker ended with ${signal ?? `exit code ${code}`}: see ${logFile}`);
}
