import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type ConfigRow, describeConfig } from '@auth-account/config';

/**
 * Writes README.md's table of configuration variables from the services' schemas, between its two markers. With --check
 * it writes nothing and exits with 1 where the table is out of date.
 */

const README = new URL('../../../README.md', import.meta.url);
const [START, END] = ['<!-- config:start -->', '<!-- config:end -->'];
const SERVICES = ['api', 'push-gateway', 'worker'];
const SCHEMAS = [
  { service: 'api', exported: 'apiConfig', shownAs: 'api' },
  { service: 'api', exported: 'migrateConfig', shownAs: 'migrate' },
  { service: 'push-gateway', exported: 'pushGatewayConfig', shownAs: 'push-gateway' },
  { service: 'worker', exported: 'workerConfig', shownAs: 'worker' },
];

type Schema = Parameters<typeof describeConfig>[0];
type Row = ConfigRow & { readonly services: readonly string[] };

async function rowsOf({ service, exported, shownAs }: (typeof SCHEMAS)[number]): Promise<Row[]> {
  const path = new URL(`../../../services/${service}/src/config.ts`, import.meta.url);
  if (!existsSync(path)) return [];
  const schemas: Record<string, Schema | undefined> = await import(path.href);
  const schema = schemas[exported];
  if (!schema) throw new Error(`services/${service}/src/config.ts exports no ${exported}`);
  return describeConfig(schema).map((row) => ({ ...row, services: [shownAs] }));
}

/** A variable that several services read in the same way stands in the table once. */
function merge(rows: readonly Row[]): Row[] {
  const groups = Map.groupBy(rows, ({ services: _, ...row }) => JSON.stringify(row));
  return Array.from(groups.values(), (same) => {
    const services = same.flatMap((row) => row.services);
    return same.slice(0, 1).map((row) => ({ ...row, services }));
  }).flat();
}

function defaultOf(row: Row): string {
  if (row.required) return '**required**';
  return row.default ? `\`${row.default}\`` : 'none';
}

function toLine(row: Row): string {
  const secret = row.secret ? `. May come from a file: \`${row.name}_FILE\`` : '';
  const services = row.services.length === SERVICES.length ? 'all' : row.services.join(', ');
  const cells = [`\`${row.name}\``, services, row.type, defaultOf(row), `${row.description}${secret}`];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function toTable(rows: readonly Row[]): string {
  const head = ['| Variable | Service | Value | Default | Meaning |', '| --- | --- | --- | --- | --- |'];
  return [...head, ...rows.map(toLine)].join('\n');
}

function withTable(readme: string, table: string): string {
  const [start, end] = [readme.indexOf(START), readme.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`README.md has no ${START} followed by ${END}`);
  return `${readme.slice(0, start)}${START}\n${table}\n${readme.slice(end)}`;
}

const rows = await Promise.all(SCHEMAS.map(rowsOf));
const before = readFileSync(README, 'utf8');
const after = withTable(before, toTable(merge(rows.flat())));

if (!process.argv.includes('--check')) {
  writeFileSync(README, after);
} else if (after !== before) {
  console.error('README.md: the configuration table is out of date. Run: npm run generate');
  process.exitCode = 1;
}
