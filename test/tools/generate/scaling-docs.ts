import { knownQueries } from '../queries/known-queries.ts';
import { shardKeys } from '../queries/shard-keys.ts';
import { code, generateSections, toTable } from './page-sections.ts';

/** Writes the tables of shard keys and queries into docs/scaling.md. */

function shardKeyTable(): string {
  const rows = Object.entries(shardKeys).map(([name, { key, slotFrom, why, changes }]) => {
    const fields = slotFrom.map((field) => code(field)).join(', ');
    return [code(name), key === undefined ? 'none' : code(key), fields || '–', why, changes];
  });
  return toTable(['Collection', 'Shard key', '`slot` follows from', 'Why', 'What has to change'], rows);
}

const queries = Object.entries(knownQueries);

function hotTable(): string {
  const rows = queries
    .filter(([, { hot }]) => hot.length > 0)
    .map(([shape, { hot, becomes }]) => {
      const [, collection = '', query = ''] = /^(\w+) (.+)$/.exec(shape) ?? [];
      return [code(collection), code(query), hot.join(', '), becomes ?? 'the same, one shard'];
    });
  return toTable(['Collection', 'Query', 'Sent by', 'On the sharded database'], rows);
}

function allShardsTable(): string {
  const reasons = Map.groupBy(
    queries.filter(([, { allShards }]) => allShards !== undefined),
    ([, { allShards = '' }]) => allShards,
  );
  const rows = [...reasons].map(([reason, of]) => [reason, of.map(([shape]) => code(shape)).join('<br>')]);
  return toTable(['Why it may', 'Queries'], rows);
}

generateSections({
  page: 'docs/scaling.md',
  generator: 'scaling',
  sections: {
    'shard-keys': shardKeyTable(),
    'hot-queries': hotTable(),
    'all-shards': allShardsTable(),
  },
});
