import type { ReportedMutant, StrykerReport } from './stryker-report.ts';

/** A mutant that no test has killed. */
export interface Survivor {
  readonly file: string;
  readonly line: number;
  /** Source line in which it begins, without indentation. */
  readonly in: string;
  /** Original and replacement: white space as one blank, shortened to {@link shownLength} characters. */
  readonly from: string;
  readonly to: string;
  /** True if no test covers it. */
  readonly isUncovered: boolean;
}

/** Results of an area's mutants. */
export interface AreaResult {
  readonly killed: number;
  /** Number of the killed ones that made a test take too long. */
  readonly timedOut: number;
  /** Mutants with which the tests did not run at all: they don't count. */
  readonly invalid: number;
  readonly survivors: readonly Survivor[];
}

const shownLength = 90;

export function areaResult(reports: readonly StrykerReport[]): AreaResult {
  const files = reports.flatMap((report) => Object.entries(report.files));
  const mutants = files.flatMap(([, file]) => file.mutants);
  const count = (...statuses: ReportedMutant['status'][]) =>
    mutants.filter(({ status }) => statuses.includes(status)).length;
  const survivors = files.flatMap(([name, { source, mutants }]) =>
    mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map((mutant) => survivorOf(name, source, mutant)),
  );
  return {
    killed: count('Killed', 'Timeout'),
    timedOut: count('Timeout'),
    invalid: count('RuntimeError', 'CompileError', 'Ignored'),
    survivors: survivors.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line),
  };
}

/** Returns the share of killed mutants in those that count, in percent. */
export function scoreOf({ killed, survivors }: AreaResult): number {
  return (100 * killed) / Math.max(1, killed + survivors.length);
}

function survivorOf(file: string, source: string, mutant: ReportedMutant): Survivor {
  const { start, end } = mutant.location;
  const lines = source.split('\n');
  const taken = lines.slice(start.line - 1, end.line);
  const last = taken.length - 1;
  const cut = taken.map((line, i) =>
    line.slice(i === 0 ? start.column - 1 : 0, i === last ? end.column - 1 : undefined),
  );
  return {
    file,
    line: start.line,
    in: shorten(lines[start.line - 1] ?? ''),
    from: shorten(cut.join('\n')),
    to: shorten(mutant.replacement ?? ''),
    isUncovered: mutant.status === 'NoCoverage',
  };
}

function shorten(text: string): string {
  const plain = text.replace(/\s+/g, ' ').trim();
  return plain.length > shownLength ? `${plain.slice(0, shownLength - 1)}…` : plain;
}
