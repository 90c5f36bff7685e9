import type { Area, Part } from './area.ts';

interface Position {
  readonly line: number;
  readonly column: number;
}

/** A mutant as Stryker reports it. Positions count from 1. */
export interface ReportedMutant {
  readonly replacement?: string;
  readonly statusReason?: string;
  /** True if code runs it outside of tests, such as a hook. */
  readonly static?: boolean;
  /** Number of tests that ran with it. */
  readonly testsCompleted?: number;
  readonly status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'RuntimeError' | 'CompileError' | 'Ignored';
  readonly location: { readonly start: Position; readonly end: Position };
}

/** The part of Stryker's JSON report that we read (mutation-testing-report-schema, version 2). */
export interface StrykerReport {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly ReportedMutant[] }>>;
}

/**
 * A mutant that no test has killed, for a reason. In its texts, white space is one blank, and at most {@link shownLength} characters
 * remain.
 */
export interface Survivor {
  readonly file: string;
  /** The source line in which the mutant begins, the original text, and its replacement. */
  readonly in: string;
  readonly from: string;
  readonly to: string;
  /** The reason why it may survive, written by hand into results.json after an attempt to kill it. */
  readonly why: string;
}

/** A mutant that no test has killed, without a reason. */
export type Unexplained = Omit<Survivor, 'why'>;

/** The result of the mutants of a part, or of an area as a whole. */
export interface Result {
  /** The day of the measurement, and of an area the earliest of its parts. */
  readonly measuredOn: string;
  readonly killed: number;
  /** Number of killed mutants that made a test take too long for Stryker or for Jest. A busy machine can do that too. */
  readonly timedOut: number;
  /** Number of mutants with which the tests did not run at all, and which do not count. */
  readonly invalid: number;
  /** Number of survivors without a reason. The run names them. */
  readonly unexplained: number;
  readonly survivors: readonly Survivor[];
}

/**
 * The last results, as in results.json: of a part by {@link keyOf}, and by the area's name that of an area which was
 * measured as a whole, until each of its parts has a result.
 */
export type Results = Readonly<Record<string, Result>>;

const shownLength = 90;

/** Returns the key of a part's result. The sources are in it, so that other sources have no result. */
export const keyOf = ({ name }: Area, { sources }: Part) => `${name}: ${sources}`;

const measuredParts = (area: Area, results: Results) => area.parts.flatMap((part) => results[keyOf(area, part)] ?? []);

/** Returns an area's result, which is the sum of its parts' if each has one; undefined if there is none. */
export function resultOf(area: Area, results: Results): Result | undefined {
  const parts = measuredParts(area, results);
  if (parts.length < area.parts.length) return results[area.name];
  return parts.reduce((sum, part) => ({
    measuredOn: [sum.measuredOn, part.measuredOn].sort()[0] ?? '',
    killed: sum.killed + part.killed,
    timedOut: sum.timedOut + part.timedOut,
    invalid: sum.invalid + part.invalid,
    unexplained: sum.unexplained + part.unexplained,
    survivors: [...sum.survivors, ...part.survivors],
  }));
}

/** Sums up the reports of a part. Survivors keep their reasons from earlier results, even if they have moved. */
export function partResult(reports: readonly StrykerReport[], earlier: readonly Survivor[] = []) {
  const files = reports.flatMap((report) => Object.entries(report.files)).sort(([a], [b]) => a.localeCompare(b));
  const mutants = files.flatMap(([, file]) => file.mutants);
  const count = (...statuses: ReportedMutant['status'][]) =>
    mutants.filter(({ status }) => statuses.includes(status)).length;
  const reasons = new Map(earlier.map(({ why, ...of }) => [textOf(of), why]));
  const survivors = files.flatMap(([name, { source, mutants: of }]) =>
    of
      .filter((mutant) => mutant.status === 'NoCoverage' || (mutant.status === 'Survived' && !ranNoTest(mutant)))
      .sort((a, b) => a.location.start.line - b.location.start.line)
      .map((mutant) => survivorOf(name, source, mutant)),
  );
  return {
    killed: count('Killed', 'Timeout'),
    timedOut: mutants.filter(tookTooLong).length,
    invalid: count('RuntimeError', 'CompileError', 'Ignored') + mutants.filter(ranNoTest).length,
    unexplained: survivors.filter((survivor) => !reasons.has(textOf(survivor))),
    survivors: survivors.flatMap((survivor) => {
      const why = reasons.get(textOf(survivor));
      return why === undefined ? [] : { ...survivor, why };
    }),
  };
}

/** Returns true if the set-up of the tests failed, for whatever reason: Stryker then says that the mutant has survived. */
const ranNoTest = ({ status, testsCompleted }: ReportedMutant) => status === 'Survived' && testsCompleted === 0;

const tookTooLong = ({ status, statusReason = '' }: ReportedMutant) =>
  status === 'Timeout' || statusReason.includes('Exceeded timeout of');

type Counts = Pick<Result, 'killed' | 'unexplained' | 'survivors'>;

/** Returns the number of mutants that count. */
export const mutantsOf = ({ killed, unexplained, survivors }: Counts) => killed + unexplained + survivors.length;

/** Returns the percentage of killed mutants among those that count. */
export const scoreOf = (result: Counts) => (100 * result.killed) / Math.max(1, mutantsOf(result));

/** Returns the text of results.json, with a line for each explained survivor. Results of other areas and sources are left out. */
export function resultsText(areas: readonly Area[], results: Results): string {
  const keys = areas.flatMap((area) => {
    const isComplete = measuredParts(area, results).length === area.parts.length;
    return [...(isComplete ? [] : [area.name]), ...area.parts.map((part) => keyOf(area, part))];
  });
  const kept = keys.flatMap((key) => {
    if (results[key] === undefined) return [];
    const { survivors, ...counts } = results[key];
    const lines = survivors.map((survivor) => `\n      ${JSON.stringify(survivor)}`).join(',');
    return [`  "${key}": ${JSON.stringify(counts).slice(0, -1)}, "survivors": [${lines}]}`];
  });
  return `{\n${kept.join(',\n')}\n}\n`;
}

/** Returns the text of docs/mutation.md. */
export function mutationPage(areas: readonly Area[], results: Results): string {
  const rows = areas.map((area) => {
    const { name, covers, aim } = area;
    const result = resultOf(area, results);
    if (result === undefined) return `| ${name}: ${covers} | not measured | | | |`;
    const { unexplained, measuredOn } = result;
    const score = `${scoreOf(result).toFixed(1)} (aim ${aim})`;
    return `| ${[`${name}: ${covers}`, mutantsOf(result), score, unexplained, measuredOn].join(' | ')} |`;
  });
  return `# Mutation score

How well tests notice faults: Stryker changes one thing in a source (a mutant) and runs the tests; if one fails, the mutant is killed.
\`npm run test:long mutation\` (\`-- --only tokens,providers:4\`) measures areas, or a part of one, and writes this page. Each part's result is stored when it is measured, and an area is the sum of its parts. It fails if an area is below its aim, or if a survivor has no reason (\`why\`) in \`test/tools/mutation/results.json\`.
Only the tests that \`test/tools/mutation/areas.ts\` names for a source run on its mutants, so another test might kill a survivor.

| Area | Mutants | Killed, % | Survivors without a reason | Measured on |
| --- | --: | --: | --: | --- |
${rows.join('\n')}
`;
}

function textOf({ file, in: line, from, to }: Unexplained): string {
  return JSON.stringify([file, line, from, to]);
}

function survivorOf(file: string, source: string, { location, replacement = '' }: ReportedMutant): Unexplained {
  const { start, end } = location;
  const lines = source.split('\n');
  const taken = lines.slice(start.line - 1, end.line);
  const last = taken.length - 1;
  const cut = taken.map((line, i) =>
    line.slice(i === 0 ? start.column - 1 : 0, i === last ? end.column - 1 : undefined),
  );
  return {
    file,
    in: shorten(lines[start.line - 1] ?? ''),
    from: shorten(cut.join('\n')),
    to: shorten(replacement),
  };
}

function shorten(text: string): string {
  const plain = text.replace(/\s+/g, ' ').trim();
  return plain.length > shownLength ? `${plain.slice(0, shownLength - 1)}…` : plain;
}
