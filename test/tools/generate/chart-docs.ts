import { readValueEntries, type ValueEntry } from './chart/value-entries.ts';
import { describeValueType, toValuesSchema } from './chart/values-schema.ts';
import { generateFile, generateSections, toTable } from './page-sections.ts';

/**
 * Writes the chart's values.schema.json and the tables of values in its README from values.yaml and its comments, and the
 * schema also from the services' configuration schemas. With --check it only compares.
 */

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
generateSections({ page: 'charts/auth-account/README.md', generator: 'chart', sections: { values } });
const schema = JSON.stringify(toValuesSchema(entries), null, 2);
generateFile('charts/auth-account/values.schema.json', `${schema}\n`, 'chart');
