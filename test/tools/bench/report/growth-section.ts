import { operationNames } from '../cost/operations.ts';
import type { GrowthLevel } from '../growth/measure-growth.ts';
import { costAt } from './growth-aims.ts';
import { markdownTable } from './markdown-table.ts';
import { paragraphs, plotImage, type Section } from './section.ts';
import { lineChart } from './svg/line-chart.ts';

const plot = 'growth.svg';
const grouped = (count: number) => count.toLocaleString('en');

export function growthSection(levels: readonly GrowthLevel[]): Section {
  const [first] = levels;
  return {
    heading: 'How cost grows with the store',
    text: paragraphs(
      'CPU milliseconds of api and MongoDB for one operation, with so many users in the store, each in a group of their own. Every user has one live session; in the smallest store there are more, as each session is refreshed or logged out once. Accounts and sessions that are asked for lie anywhere in the store. The api is one process, which goes on while the store grows; MongoDB’s cache has room for all of it.',
      markdownTable(
        ['users', 'sessions', ...operationNames, 'bare hash'],
        levels.map((level) => [
          ...[grouped(level.users), grouped(level.sessions)],
          ...operationNames.map((operation) => costAt(level, operation).toFixed(2)),
          level.bareHashMs.toFixed(2),
        ]),
      ),
      plotImage(plot, 'Cost of each operation by number of users, beside its cost in the smallest store'),
    ),
    plots: {
      [plot]: lineChart({
        title: 'Cost by number of users',
        subtitle: 'CPU of api and MongoDB, beside that in the smallest store: flat is 1',
        xLabel: 'users',
        xScale: 'log',
        showX: grouped,
        showY: (times) => `${times}`,
        series: operationNames.map((name) => ({
          name,
          points: levels.map((level) => ({
            x: level.users,
            y: costAt(level, name) / (first === undefined ? Number.NaN : costAt(first, name)),
          })),
        })),
      }),
    },
  };
}
