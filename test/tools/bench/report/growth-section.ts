import { operationNames } from '../cost/operations.ts';
import type { GrowthLevel } from '../growth/measure-growth.ts';
import { costAt, roomyLevels } from './growth-aims.ts';
import { markdownTable } from './markdown-table.ts';
import { paragraphs, plotImage, type Section } from './section.ts';
import { barChart } from './svg/bar-chart.ts';
import { lineChart } from './svg/line-chart.ts';

const growthPlot = 'growth.svg';
const cachePlot = 'small-cache.svg';
const grouped = (count: number) => count.toLocaleString('en');
const gib = (mib: number) => (mib / 1_024).toFixed(2);

export function growthSection(levels: readonly GrowthLevel[]): Section {
  return {
    heading: 'How cost grows with the store',
    text: paragraphs(
      'CPU milliseconds of api and MongoDB for one operation, with so many users in the store, each in a group of their own and with one live session. Accounts and sessions that are asked for lie anywhere in what was added last; each session is used once. The api is one process, which goes on while the store grows, and is warmed anew at each size. *Store* is the size of documents and indexes in MongoDB’s cache, if they are all there; the last row has the smallest cache that mongod takes, and reads most documents from the file system. The time that a disk takes is not in these figures: they are CPU time.',
      markdownTable(
        ['users', 'sessions', 'store, GiB', 'cache, GiB', ...operationNames, 'bare hash'],
        levels.map((level) => [
          ...[grouped(level.users), grouped(level.sessions), gib(level.storeMib), gib(level.cacheMib)],
          ...operationNames.map((operation) => costAt(level, operation).toFixed(2)),
          level.bareHashMs.toFixed(2),
        ]),
      ),
      plotImage(growthPlot, 'Cost of each operation by number of users, beside its cost in the smallest store'),
      plotImage(cachePlot, 'Cost of each operation with a large cache of MongoDB and with the smallest'),
    ),
    plots: { [growthPlot]: growthChart(roomyLevels(levels)), [cachePlot]: cacheChart(levels) },
  };
}

function growthChart(levels: readonly GrowthLevel[]): string {
  const [first] = levels;
  return lineChart({
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
  });
}

/** Draws the largest store with each cache. */
function cacheChart(levels: readonly GrowthLevel[]): string {
  const users = levels.at(-1)?.users ?? 0;
  const largest = levels.filter((level) => level.users === users);
  return barChart({
    title: `MongoDB’s cache, with ${grouped(users)} users`,
    subtitle: 'CPU milliseconds of api and MongoDB for one operation',
    groups: operationNames.map((operation) => ({
      label: operation,
      bars: largest.map((level, place) => ({
        label: `${gib(level.cacheMib)} of ${gib(level.storeMib)} GiB`,
        value: costAt(level, operation),
        shown: `${costAt(level, operation).toFixed(2)} ms`,
        kind: place === 0 ? ('own' as const) : ('reference' as const),
      })),
    })),
  });
}
