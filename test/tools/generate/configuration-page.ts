import { type ConfigRow, describeConfig } from '@auth-account/config';
import { type LocalVariable, localVariables } from '../../../libs/local-stack/src/stack/local-variables.ts';
import { apiConfig, migrateConfig } from '../../../services/api/src/config.ts';
import { pushGatewayConfig } from '../../../services/push-gateway/src/config.ts';
import { workerConfig } from '../../../services/worker/src/config.ts';
import { topics } from './configuration-topics.ts';

const SERVICES = { api: apiConfig, 'push-gateway': pushGatewayConfig, worker: workerConfig };
const SCHEMAS = { ...SERVICES, migrate: migrateConfig };
const HEAD = ['| Variable | Service | Value | Default | Meaning |', '| --- | --- | --- | --- | --- |'];
const REQUIRED_HEAD = ['| Variable | Service | Value | Meaning |', '| --- | --- | --- | --- |'];
const LOCAL_HEAD = ['| Variable | Default | Meaning |', '| --- | --- | --- |'];

type Row = ConfigRow & { readonly services: readonly string[] };

function toLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** Returns a row for every variable of every schema. A variable that several services read alike has one row. */
function allRows(): Row[] {
  const rows = Object.entries(SCHEMAS).flatMap(([service, schema]) =>
    describeConfig(schema).map((row) => ({ ...row, services: [service] })),
  );
  const groups = Map.groupBy(rows, ({ services: _, ...row }) => JSON.stringify(row));
  return Array.from(groups.values(), (same) => {
    const services = same.flatMap((row) => row.services);
    return same.slice(0, 1).map((row) => ({ ...row, services }));
  }).flat();
}

function cellsOf(row: Row): { name: string; services: string; meaning: string } {
  return {
    name: `\`${row.name}\``,
    services: Object.keys(SERVICES).every((name) => row.services.includes(name)) ? 'all' : row.services.join(', '),
    meaning: row.secret ? `${row.description}. From a file: \`${row.name}_FILE\`` : row.description,
  };
}

function requiredLine(row: Row): string {
  const { name, services, meaning } = cellsOf(row);
  return toLine([name, services, row.type, meaning]);
}

function optionalLine(row: Row): string {
  const { name, services, meaning } = cellsOf(row);
  return toLine([name, services, row.type, row.default ? `\`${row.default}\`` : 'none', meaning]);
}

function localLine([name, variable]: [string, LocalVariable]): string {
  return toLine([`\`${name}\``, variable.default, variable.description]);
}

function section(title: string, intro: string | undefined, table: readonly string[]): string {
  return [`## ${title}`, ...(intro ? ['', intro] : []), '', ...table, ''].join('\n');
}

/** Returns the sections of the topics. Throws if a variable has no topic. */
function topicSections(rows: readonly Row[]): string[] {
  const topicOf = ({ name }: Row) => topics.find(({ names }) => names.test(name));
  const homeless = rows.filter((row) => !topicOf(row)).map(({ name }) => name);
  if (homeless.length > 0) throw new Error(`configuration-topics.ts has no topic for ${homeless.join(', ')}`);
  return topics.map((topic) => {
    const lines = rows.filter((row) => topicOf(row) === topic).map(optionalLine);
    return section(topic.title, topic.intro, [...HEAD, ...lines]);
  });
}

function serviceLine([service, schema]: [string, (typeof SCHEMAS)[keyof typeof SCHEMAS]]): string {
  const rows = describeConfig(schema);
  const names = (required: boolean) =>
    rows
      .filter((row) => row.required === required)
      .map(({ name }) => `\`${name}\``)
      .join(', ') || 'none';
  return toLine([service, names(true), names(false)]);
}

function serviceSection(): string {
  const head = ['| Service | Required | Optional |', '| --- | --- | --- |'];
  const intro =
    '`migrate` (`services/api/bin/migrate.ts`) also reads the variables of MongoDB and of the log, and, if `REDIS_URL` is set, of Redis.';
  return section('By service', intro, [...head, ...Object.entries(SCHEMAS).map(serviceLine)]);
}

const localIntro =
  'These concern `npm run up` and the tests only. `npm run up` passes every other variable on to the services; with ' +
  '`MONGODB_URI` or `REDIS_URL` set it uses that server and starts none.';

/** Returns the sections of docs/configuration.md, from the services' schemas and the local stack's variables. */
export function configurationSections(): string {
  const rows = allRows();
  const required = rows.filter((row) => row.required).map(requiredLine);
  return [
    section('Required', undefined, [...REQUIRED_HEAD, ...required]),
    ...topicSections(rows.filter((row) => !row.required)),
    section('Local stack', localIntro, [...LOCAL_HEAD, ...Object.entries(localVariables).map(localLine)]),
    serviceSection(),
  ].join('\n');
}
