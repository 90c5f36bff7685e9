import { type CountedOperation, statements } from '../queries/statements.ts';
import { generateSections, toTable } from './page-sections.ts';

/** Writes the table of docs/performance.md, with the statements of each operation and the reason for each statement. */

const operations = Object.keys(statements) as CountedOperation[];

function countsTable(): string {
  const rows = operations.map((name) => {
    const of = statements[name];
    const count = (store: string) => of.filter((statement) => statement.store === store).length;
    const waited = of.filter(({ isBehind }) => !isBehind).length;
    return [name, count('MongoDB'), count('Redis'), waited];
  });
  return toTable(['Operation', 'MongoDB', 'Redis', 'round trips that the answer waits for'], rows);
}

function statementsTable(): string {
  const rows = operations.flatMap((name) =>
    statements[name].map(({ store, sent, why, isBehind }, place) => [
      place === 0 ? name : '',
      store,
      `\`${sent}\``,
      isBehind ? `${why} (the answer does not wait)` : why,
    ]),
  );
  return toTable(['Operation', 'Store', 'Statement', 'Why'], rows);
}

generateSections({
  page: 'docs/performance.md',
  generator: 'performance',
  sections: { 'statement-counts': countsTable(), statements: statementsTable() },
});
