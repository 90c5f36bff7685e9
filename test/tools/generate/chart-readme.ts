import { readChartFile, readValueEntries, writeOrCheck } from './chart/chart-files.ts';
import type { ValueEntry } from './chart/value-entries.ts';
import { describeValueType } from './chart/values-schema.ts';

/**
 * Writes the tables of values in charts/auth-account/README.md, between two markers, from values.yaml and its comments.
 * With --check it writes nothing, and exits with 1 if they are out of date.
 */

const NAME = 'README.md';
const [START, END] = ['<!-- values:start -->', '<!-- values:end -->'];
const HEAD = ['| Value | Type | Default | Meaning |', '| --- | --- | --- | --- |'];

/** Returns the keys that have a description. Keys below such a key belong to its default. */
function described(entry: ValueEntry): ValueEntry[] {
  return entry.description === undefined ? entry.entries.flatMap(described) : [entry];
}

function toDefault(value: unknown): string {
  return value === '' ? '' : `\`${JSON.stringify(value)}\``;
}

function toLine(entry: ValueEntry): string {
  const cells = [`\`${entry.path}\``, describeValueType(entry), toDefault(entry.value), entry.description ?? ''];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function toTable(title: string, entries: readonly ValueEntry[]): string {
  return [`### ${title}`, '', ...HEAD, ...entries.map(toLine), ''].join('\n');
}

function withTables(readme: string, tables: string): string {
  const [start, end] = [readme.indexOf(START), readme.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`README.md has no ${START} followed by ${END}`);
  return `${readme.slice(0, start)}${START}\n\n${tables}\n${readme.slice(end)}`;
}

const entries = readValueEntries();
const sections = entries.filter(({ description }) => description === undefined);
const tables = [
  toTable(
    'General',
    entries.filter(({ description }) => description !== undefined),
  ),
  ...sections.map((entry) => toTable(entry.key, described(entry))),
];
const before = readChartFile(NAME);
writeOrCheck(NAME, before, withTables(before, tables.join('\n')));
