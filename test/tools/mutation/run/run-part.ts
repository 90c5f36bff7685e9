import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Part } from '../area.ts';
import type { ReportedMutant, StrykerReport } from '../results.ts';
import { type RunStrykerOptions, runStryker } from './run-stryker.ts';
import { strykerOptions } from './stryker-options.ts';

/**
 * Runs Stryker on a part, and returns its reports. They and the logs are in `output`, under the name. Throws if Stryker
 * gives up.
 */
export async function runPart(
  part: Part,
  output: string,
  name: string,
  options: RunStrykerOptions,
): Promise<StrykerReport[]> {
  await mkdir(output, { recursive: true });
  const path = join(output, name);
  const report = await runOnce(part, path, options);
  const ranges = staticRanges(report);
  const others = withoutStatic(report);
  return ranges.length === 0 ? [others] : [others, await runOnce(part, `${path}-static`, options, ranges)];
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

async function runOnce(
  part: Part,
  path: string,
  options: RunStrykerOptions,
  ranges?: readonly string[],
): Promise<StrykerReport> {
  const { root } = options;
  const report = `${path}.json`;
  const config = join(root, 'stryker.config.json');
  await writeFile(config, JSON.stringify(strykerOptions(part, root, report, ranges)));
  await rm(report, { force: true });
  await runStryker(config, `${path}.log`, options);
  return JSON.parse(await readFile(report, 'utf8')) as StrykerReport;
}
