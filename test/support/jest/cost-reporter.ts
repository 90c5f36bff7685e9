import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** The part of Jest's results that is needed. */
interface Results {
  readonly testResults: readonly {
    readonly testFilePath: string;
    /** In milliseconds since the epoch. */
    readonly perfStats: { readonly start: number; readonly end: number };
  }[];
}

/** Needs of a test file besides the shared servers, by a sign in its source. The first that matches counts. */
const kinds: readonly (readonly [kind: string, sign: RegExp])[] = [
  ['browsers', /support\/chromium/],
  ['fault harness', /\/faults\/(?:faults|load|run-faults|sdk|stack)|'faults\.ts'/],
  ['whole stacks', /startTestStack|runProgram|demo-stack/],
  ['own topologies', /startMongo\b|redis-(?:cluster|sentinel|tls)|stop-replication|SentinelGroup/],
  ['processes', /node:child_process|start\w+Process\b|startFloodedApi|separate-install/],
];

const folderForm = /^(?:libs|services|test\/tools\/[^/]+|test\/integration\/[^/]+|test\/[^/]+)(?=\/)/;

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1).padStart(8)} s`;

/** Prints the worker-seconds of a run by folder and by kind, and its longest files: `npm test -- --costs`. */
export default class CostReporter {
  onRunComplete(_: unknown, { testResults }: Results): void {
    const byFolder = new Map<string, number>();
    const byKind = new Map<string, number>();
    const files = testResults.map(({ testFilePath, perfStats: { start, end } }) => {
      const path = relative('', testFilePath);
      const source = readFileSync(path, 'utf8');
      const kind = kinds.find(([, sign]) => sign.test(source))?.[0] ?? 'in process';
      const folder = folderForm.exec(path)?.[0] ?? path;
      byFolder.set(folder, (byFolder.get(folder) ?? 0) + end - start);
      byKind.set(kind, (byKind.get(kind) ?? 0) + end - start);
      return [path, end - start] as const;
    });
    const total = files.reduce((sum, [, ms]) => sum + ms, 0);
    console.log(`\nWorker-seconds of ${files.length} files: ${seconds(total).trim()}`);
    for (const [title, costs] of [
      ['by kind', [...byKind]],
      ['by folder', [...byFolder]],
      ['longest files', files],
    ] as const) {
      console.log(`${title}:`);
      const slowest = costs.toSorted(([, a], [, b]) => b - a).slice(0, 25);
      for (const [name, ms] of slowest) console.log(`${seconds(ms)}  ${name}`);
    }
  }
}
