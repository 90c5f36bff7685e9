import { markdownTable } from '../bench/report/section.ts';
import { readBenchFigures } from '../capacity/bench-figures.ts';
import { figures } from '../capacity/figures.ts';
import { capacityOf } from '../capacity/model.ts';
import { assumptionNames, assumptions, parseAssumptions } from '../capacity/options.ts';
import { amount, capacityLines } from '../capacity/report.ts';
import { knownQueries } from '../queries/known-queries.ts';
import { shardKeys } from '../queries/shard-keys.ts';
import { generateSections } from './page-sections.ts';

/** Writes the tables of docs/scaling.md, which are figures, assumptions, examples, shard keys and queries. */

const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``;
const bench = readBenchFigures();

function operationTable(): string {
  const rows = Object.entries(bench.operations).map(([name, { api, mongodb, redis }]) => [name, api, mongodb, redis]);
  return markdownTable(['CPU ms of one', 'api', 'MongoDB', 'Redis'], rows);
}

function figureTable(): string {
  const handshake = [
    'handshake',
    `${bench.handshakeMs} ms CPU of the gateway`,
    '[benchmarks](benchmarks.md)',
    bench.day,
  ];
  const rows = Object.values(figures).map(({ what, shown, source, day }) => [what, shown, source, day]);
  return markdownTable(['What', 'Figure', 'Repeat it by', 'Day'], [handshake, ...rows]);
}

function assumptionTable(): string {
  const rows = assumptionNames.map((name) => {
    const { about, byDefault } = assumptions[name];
    return [code(`--${name}`), about, byDefault.toLocaleString('en')];
  });
  return markdownTable(['Option', 'Meaning', 'Default'], rows);
}

/** The number of devices of each example, and its other options. */
const examples: readonly (readonly [devices: number, ...options: string[]])[] = [
  [100_000, '--api-cores', '1', '--gateway-mib', '512', '--mongodb-cores', '2', '--mongodb-cache', '1'],
  [1_000_000, '--api-cores', '2', '--gateway-mib', '1024', '--mongodb-cores', '8', '--mongodb-cache', '8'],
  [10_000_000],
  [100_000_000],
];

function exampleTable(): string {
  const columns = examples.map(([devices, ...options]) => {
    const on = parseAssumptions(['--devices', String(devices), ...options]);
    if (on === undefined) throw new Error('help was asked for');
    const others = options.length === 0 ? 'by default' : code(options.join(' '));
    return [['options', others] as const, ...capacityLines(capacityOf(on, bench))];
  });
  const rows = (columns[0] ?? []).map(([what], line) => [what, ...columns.map((column) => column[line]?.[1])]);
  return markdownTable(['devices', ...examples.map(([devices]) => amount(devices))], rows);
}

function redisTable(): string {
  const { questionRedisMs, handshakeRedisMs, denialRedisMs, publishedRedisMs, endedRedisMs, eventRedisMs } = figures;
  const rows = [questionRedisMs, handshakeRedisMs, denialRedisMs, publishedRedisMs, endedRedisMs, eventRedisMs].map(
    ({ value, what, source }) => [
      what,
      `${amount(value * 1_000)} µs`,
      amount(1_000 / value),
      amount(500 / value),
      source,
    ],
  );
  const head = [
    'What it carries',
    'CPU of Redis',
    'in a CPU second',
    'at half of its core, each second',
    'Repeat it by',
  ];
  return markdownTable(head, rows);
}

function shardKeyTable(): string {
  const rows = Object.entries(shardKeys).map(([name, { key, slotFrom, why, changes }]) => {
    const fields = slotFrom.map((field) => code(field)).join(', ');
    return [code(name), key === undefined ? 'none' : code(key), fields || '–', why, changes];
  });
  return markdownTable(['Collection', 'Shard key', '`slot` follows from', 'Why', 'What has to change'], rows);
}

const queries = Object.entries(knownQueries);

function hotTable(): string {
  const rows = queries
    .filter(([, { hot }]) => hot.length > 0)
    .map(([shape, { hot, becomes }]) => {
      const [, collection = '', query = ''] = /^(\w+) (.+)$/.exec(shape) ?? [];
      return [code(collection), code(query), hot.join(', '), becomes ?? 'the same, one shard'];
    });
  return markdownTable(['Collection', 'Query', 'Sent by', 'On the sharded database'], rows);
}

function allShardsTable(): string {
  const reasons = Map.groupBy(
    queries.filter(([, { allShards }]) => allShards !== undefined),
    ([, { allShards = '' }]) => allShards,
  );
  const rows = [...reasons].map(([reason, of]) => [reason, of.map(([shape]) => code(shape)).join('<br>')]);
  return markdownTable(['Why it may', 'Queries'], rows);
}

generateSections({
  page: 'docs/scaling.md',
  generator: 'scaling',
  sections: {
    ...{ operations: operationTable(), figures: figureTable() },
    ...{ assumptions: assumptionTable(), examples: exampleTable(), redis: redisTable() },
    'shard-keys': shardKeyTable(),
    'hot-queries': hotTable(),
    'all-shards': allShardsTable(),
  },
});
