import { readValueEntries, type ValueEntry } from './chart/value-entries.ts';
import { describeValueType } from './chart/values-schema.ts';
import { generateSections, toTable } from './page-sections.ts';

/** Writes the tables of values in the chart's README from values.yaml and its comments. With --check it only compares. */

/** Returns the keys that have a description. Keys below such a key belong to its default. */
function described(entry: ValueEntry): ValueEntry[] {
  return entry.description === undefined ? entry.entries.flatMap(described) : [entry];
}

function toDefault(value: unknown): string {
  return value === '' ? '' : `\`${JSON.stringify(value)}\``;
}

function section(title: string, entries: readonly ValueEntry[]): string {
  const rows = entries.map((entry) => [
    `\`${entry.path}\``,
    describeValueType(entry),
    toDefault(entry.value),
    entry.description ?? '',
  ]);
  return `### ${title}\n\n${toTable(['Value', 'Type', 'Default', 'Meaning'], rows)}`;
}

const entries = readValueEntries();
const general = entries.filter(({ description }) => description !== undefined);
const groups = entries.filter(({ description }) => description === undefined);
const values = [section('General', general), ...groups.map((entry) => section(entry.key, described(entry)))].join(
  '\n\n',
);
generateSections({ page: 'charts/auth-account/README.md', generator: 'chart-readme', sections: { values } });
