import { type ConfigRow, describeConfig } from '@auth-account/config';
import { localVariables } from '../../../libs/local-stack/src/stack/local-variables.ts';
import { apiConfig, migrateConfig } from '../../../services/api/src/config.ts';
import { consoleConfig } from '../../../services/console/src/config.ts';
import { pushGatewayConfig } from '../../../services/push-gateway/src/config.ts';
import { workerConfig } from '../../../services/worker/src/config.ts';
import { topics } from './configuration-topics.ts';
import { code, toTable } from './page-sections.ts';

const SERVICES = { api: apiConfig, 'push-gateway': pushGatewayConfig, worker: workerConfig };
const SCHEMAS = { ...SERVICES, console: consoleConfig, migrate: migrateConfig };

type Row = ConfigRow & { readonly services: readonly string[] };

/** Returns a row for every variable of every schema. A variable that several services read alike has one row. */
function allRows(): Row[] {
  const rows = Object.entries(SCHEMAS).flatMap(([service, schema]) =>
    describeConfig(schema).map((row) => ({ ...row, services: [service] })),
  );
  const groups = Map.groupBy(rows, ({ services: _, required: __, ...row }) => JSON.stringify(row));
  return Array.from(groups.values(), (same) => {
    const services = same.flatMap((row) => row.services);
    return same.slice(0, 1).map((row) => ({ ...row, services }));
  }).flat();
}

function table(rows: readonly Row[]): string {
  const withDefault = rows.some(({ required }) => !required);
  const lines = rows.map((row) => [
    code(row.name),
    Object.keys(SERVICES).every((name) => row.services.includes(name)) ? 'all' : row.services.join(', '),
    row.type,
    ...(withDefault ? [row.default ? code(row.default) : 'none'] : []),
    row.secret ? `${row.description}. From a file: \`${row.name}_FILE\`` : row.description,
  ]);
  return toTable(['Variable', 'Service', 'Value', ...(withDefault ? ['Default'] : []), 'Meaning'], lines);
}

function section(title: string, intro: string | undefined, text: string): string {
  return [`## ${title}`, ...(intro ? [intro] : []), text].join('\n\n');
}

/** Returns the sections of the topics. Throws if a variable has no topic. */
function topicSections(rows: readonly Row[]): string[] {
  const topicOf = ({ name }: Row) => topics.find(({ names }) => names.test(name));
  const homeless = rows.filter((row) => !topicOf(row)).map(({ name }) => name);
  if (homeless.length > 0) throw new Error(`configuration-topics.ts has no topic for ${homeless.join(', ')}`);
  return topics.map((topic) => section(topic.title, topic.intro, table(rows.filter((row) => topicOf(row) === topic))));
}

function serviceSection(): string {
  const intro =
    '`migrate` (`services/api/bin/migrate.ts`) also reads the variables of MongoDB and of the log, and, if `REDIS_URL` is set, of Redis.';
  const rows = Object.entries(SCHEMAS).map(([service, schema]) => {
    const { true: required = [], false: optional = [] } = Object.groupBy(
      describeConfig(schema),
      (row) => `${row.required}`,
    );
    return [service, ...[required, optional].map((of) => of.map(({ name }) => code(name)).join(', ') || 'none')];
  });
  return section('By service', intro, toTable(['Service', 'Required', 'Optional'], rows));
}

const localIntro =
  'These concern `npm run up` and the tests only. `npm run up` passes every other variable on to the services; with ' +
  '`MONGODB_URI` or `REDIS_URL` set it uses that server and starts none.';

/** Returns the sections of docs/configuration.md, from the services' schemas and the local stack's variables. */
export function configurationSections(): string {
  const rows = allRows();
  const local = Object.entries(localVariables).map(([name, row]) => [code(name), row.default, row.description]);
  return [
    section('Required', undefined, table(rows.filter((row) => row.required))),
    ...topicSections(rows.filter((row) => !row.required)),
    section('Local stack', localIntro, toTable(['Variable', 'Default', 'Meaning'], local)),
    serviceSection(),
  ].join('\n\n');
}
