import { describe, expect, test } from '@jest/globals';
import type { MedianCost } from '../cost/cost-table.ts';
import { type OperationName, operationNames } from '../cost/operations.ts';
import type { GrowthLevel } from '../growth/measure-growth.ts';
import type { Level } from '../push/measure-streams.ts';
import { aimsOf, type BenchResults } from './aims.ts';
import { benchmarksPage } from './benchmarks-page.ts';

const cost = (operation: OperationName, candidate: string, both: number): MedianCost => ({
  ...{ operation, candidate, both, inHashes: both / 12 },
  ...{ server: both - 0.1, mongod: 0.1, redis: 0, perSecond: 100 },
});
const costs = (candidate: string, hashed: number, other: number) =>
  operationNames.map((name) => cost(name, candidate, name === 'register' || name === 'login' ? hashed : other));
const percentiles = { count: 100, min: 0.1, p50: 0.5, p99: 5, max: 9 };
const level = (streams: number, bytesPerStream: number): Level => ({
  ...{ streams, bytesPerStream, commandToClose: percentiles },
  kernelBytesPerConnection: { tcpBuffers: 0, slab: 9_000 },
  ...{ handshakesPerSecond: 5_000, openingSeconds: 1, refused: 0, cpuMsPerHandshake: 0.5 },
});
const returned = {
  ...{ count: 19_000, refused: 20, noticed: 19_000, secondsToHalf: 1, secondsTo99: 9, secondsToAll: 12 },
  ...{ maxPerSecond: 4_000, cpuMsPerHandshake: 0.2 },
};

function growthLevel(users: number, each: number, cacheMib = 4_096): GrowthLevel {
  const store = { storeMib: users / 1_000, cacheMib };
  return { users, sessions: users, ...store, costs: costs('api', 15, each), bareHashMs: 12, expiryMs: each / 10 };
}

const results = {
  machine: {
    ...{ date: '2026-01-02', cpu: 'A processor', cores: 2, memoryGib: 8, loadBefore: 0.1 },
    ...{ system: 'A Linux', apiNode: 'v24.2.0', node: 'v22.1.0', mongodb: '6.0.5', redis: '7.0.15' },
  },
  minutes: 14.4,
  surroundings: [
    { part: 'operations', waitedSeconds: 15, isQuiet: true, seconds: 300, others: 0.05, stolen: 0 },
    { part: 'push', waitedSeconds: 285, isQuiet: false, seconds: 200, others: 1.25, stolen: 0.1 },
  ],
  operations: {
    costs: [...costs('api', 15, 0.4), ...costs('bare prototype', 14, 0.35), ...costs('better-auth', 40, 3)],
    colds: [{ operation: 'login', candidate: 'api', both: 31.25 }],
    warmUps: [
      { operation: 'login', candidate: 'api', operations: 1_200, isSteady: true },
      { operation: 'refresh', candidate: 'api', operations: 9_000, isSteady: false },
    ],
    repeated: 3,
    bareHashMs: 12,
    betterAuth: '1.2.3',
  },
  events: percentiles,
  push: {
    streams: {
      ...{ emptyMiB: 150, levels: [level(1_000, 1_500), level(19_000, 1_100)], idleCpuPercent: 1, lost: 0 },
      broadcast: { ...percentiles, groupSize: 1_000 },
      incidents: {
        lostRedis: { readySeconds: 1, cpuMs: 900, lost: 0, commandToClose: percentiles },
        ...{ restart: returned, drain: { ...returned, endedAfterSeconds: 6 } },
      },
    },
    broadcasts: [
      {
        groups: 1,
        groupSize: 1_000,
        messagesPerSecond: 50,
        framesPerSecond: 50_000,
        delay: percentiles,
        cpuPercent: 80,
      },
    ],
    logouts: {
      ...{ single: percentiles, singleAnswer: percentiles, bareWrite: { ...percentiles, p50: 0.3 } },
      flood: {
        ...{ wantedPerSecond: 200, donePerSecond: 199 },
        ...{ requestToClose: percentiles, requestToAnswer: percentiles },
      },
    },
  },
  growth: [growthLevel(1_000, 0.4), growthLevel(1_000_000, 0.4), growthLevel(1_000_000, 9, 256)],
} as const satisfies BenchResults;

const unmet = (of: BenchResults) => aimsOf(of).flatMap(({ what, isMet }) => (isMet ? [] : [what]));

describe('the page of benchmarks', () => {
  const page = benchmarksPage(results);

  test('every row of a table has as many cells as its head', () => {
    const tables = page
      .trim()
      .split('\n\n')
      .filter((part) => part.startsWith('|'));
    expect(tables.length).toBeGreaterThan(6);
    for (const table of tables) expect(new Set(table.split('\n').map((row) => row.split(' | ').length)).size).toBe(1);
  });

  test.each([
    ['the version of better-auth', /what better-auth 1\.2\.3 does/],
    ['the cold cost, and the operations that warmed a server', /^\| login \| api \|.*\| 31\.25 \| 1,200 \|$/m],
    ['if they were too few', /^\| refresh \| api \|.*\| – \| 9,000, still moving \|$/m],
    [
      'if the machine did not become quiet',
      /^\| push \| 285 s \| \*\*no\*\* \| 200 s \| 1\.25 cores \| 0\.10 cores \|$/m,
    ],
  ])('the page of benchmarks shows %s', (_, form) => {
    expect(page).toMatch(form);
  });

  test('a run of some parts has those only', () => {
    const { machine, minutes, surroundings, events } = results;
    const headings = benchmarksPage({ machine, minutes, surroundings, events }).match(/^## .*$/gm);
    expect(headings).toEqual(['## Aims', '## How soon an event is there']);
  });
});

describe('the aims of benchmarks', () => {
  test('the aims are all met by figures below them', () => {
    expect(unmet(results)).toEqual([]);
  });

  test('an operation that costs more misses the aim beside the prototype', () => {
    const slow = results.operations.costs.map((each) =>
      each.operation === 'refresh' && each.candidate === 'api' ? cost('refresh', 'api', 1.7) : each,
    );
    expect(unmet({ ...results, operations: { ...results.operations, costs: slow } })).toEqual([
      'refresh: beside bare prototype',
    ]);
  });

  test('a figure that was not measured meets no aim', () => {
    const costsOfApi = results.operations.costs.filter((each) => each.candidate === 'api');
    expect(unmet({ ...results, operations: { ...results.operations, costs: costsOfApi } })).toContain(
      'login: beside bare prototype',
    );
  });

  test('cost that grows with the store misses the aims', () => {
    expect(unmet({ ...results, growth: [growthLevel(1_000, 0.4), growthLevel(1_000_000, 0.6)] })).toHaveLength(4);
  });
});
