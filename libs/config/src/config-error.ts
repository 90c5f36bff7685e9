/** One problem of the configuration. `came` describes the value that was found, and never shows a secret. */
export interface ConfigProblem {
  readonly name: string;
  readonly expected: string;
  readonly came: string;
  readonly where: string;
}

const HEADINGS: ConfigProblem = { name: 'NAME', expected: 'EXPECTED', came: 'CAME', where: 'SET IT IN' };

function table(problems: readonly ConfigProblem[]): string {
  const rows = [HEADINGS, ...problems];
  const width = (column: keyof ConfigProblem) => Math.max(...rows.map((row) => row[column].length));
  const [name, expected, came] = [width('name'), width('expected'), width('came')];
  return rows
    .map(
      (row) => `  ${row.name.padEnd(name)}  ${row.expected.padEnd(expected)}  ${row.came.padEnd(came)}  ${row.where}`,
    )
    .join('\n');
}

/** All problems of a configuration at once. The message is a human-readable table. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    super(`The configuration has ${count}:\n${table(problems)}`);
    this.problems = problems;
  }
}
