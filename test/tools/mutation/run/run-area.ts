import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Area, Part } from '../area.ts';
import type { ReportedMutant, StrykerReport } from '../results.ts';
import { type RunStrykerOptions, runStryker } from './run-stryker.ts';
import { strykerOptions } from './stryker-options.ts';

export interface RunAreaOptions extends RunStrykerOptions {
  /** The directory for reports, logs, and the data that Stryker keeps between runs. */
  readonly output: string;
  /** True to run also mutants whose files, according to Stryker, have not changed. */
  readonly force: boolean;
  readonly log: (line: string) => void;
}

/** Runs the parts of an area one after another, and returns their reports. Throws if Stryker gives up. */
export async function runArea(area: Area, options: RunAreaOptions): Promise<StrykerReport[]> {
  await mkdir(options.output, { recursive: true });
  const reports: StrykerReport[] = [];
  for (const [index, part] of area.parts.entries()) {
    const start = performance.now();
    const path = join(options.output, `${area.name}-${index + 1}`);
    const report = await runPart(part, path, options);
    const ranges = staticRanges(report);
    reports.push(withoutStatic(report));
    if (ranges.length > 0) reports.push(await runPart(part, `${path}-static`, options, ranges));
    const mutants = Object.values(report.files).reduce((sum, file) => sum + file.mutants.length, 0);
    const seconds = Math.round((performance.now() - start) / 1_000);
    options.log(
      `${area.name} ${index + 1}/${area.parts.length}: ${mutants} mutants in ${seconds} s (${part.sources.join(', ')})`,
    );
  }
  return reports;
}

/**
 * Returns true if the mutant must run with all tests. Stryker leaves out a mutant that only hooks meet, and runs one
 * that they meet too with no other tests than those that meet it once more.
 */
const isStatic = (mutant: ReportedMutant) =>
  mutant.status === 'Ignored' || (mutant.status === 'Survived' && mutant.static === true);

/**
 * Returns the ranges of the mutants that need new modules, as Stryker's option `mutate` takes them. A mutant around
 * others that do not is left out and not counted: Stryker would run all of them once more, with all tests.
 */
function staticRanges({ files }: StrykerReport): string[] {
  const ranges = Object.entries(files).flatMap(([file, { mutants }]) => {
    const others = mutants.filter((mutant) => !isStatic(mutant));
    const lone = mutants.filter((mutant) => isStatic(mutant) && !others.some((other) => isWithin(other, mutant)));
    return lone.map(({ location: { start, end } }) => {
      const [from, to] = [start, end].map(({ line, column }) => `${line}:${column - 1}`);
      return `${file}:${from}-${to}`;
    });
  });
  return [...new Set(ranges)];
}

type Position = ReportedMutant['location']['start'];

const isBefore = (a: Position, b: Position) => a.line < b.line || (a.line === b.line && a.column <= b.column);

function isWithin({ location: inner }: ReportedMutant, { location: outer }: ReportedMutant): boolean {
  return isBefore(outer.start, inner.start) && isBefore(inner.end, outer.end);
}

function withoutStatic({ files }: StrykerReport): StrykerReport {
  const others = Object.entries(files).map(([file, { source, mutants }]) => {
    return [file, { source, mutants: mutants.filter((mutant) => !isStatic(mutant)) }] as const;
  });
  return { files: Object.fromEntries(others) };
}

async function runPart(
  part: Part,
  path: string,
  options: RunAreaOptions,
  ranges?: readonly string[],
): Promise<StrykerReport> {
  const { root, force } = options;
  const report = `${path}.json`;
  const config = join(root, 'stryker.config.json');
  const incremental = `${path}.incremental.json`;
  await writeFile(
    config,
    JSON.stringify(strykerOptions({ part, root, report, incremental, force, ranges }), undefined, 2),
  );
  await rm(report, { force: true });
  // Stryker would report the mutants of an earlier run too, also those outside the ranges.
  if (force) await rm(incremental, { force: true });
  await runStryker(config, `${path}.log`, options);
  return JSON.parse(await readFile(report, 'utf8')) as StrykerReport;
}
