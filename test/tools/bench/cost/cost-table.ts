import { median } from '../../../support/area-under-curve.ts';
import { markdownTable } from '../report/figures.ts';
import type { Measured } from './measure-operations.ts';
import type { ColdCost, WarmUp } from './rounds.ts';

export type MedianCost = ReturnType<typeof costMedians>[number];

/** Returns the median of the bare hash's CPU milliseconds in all rounds. */
export function medianHashMs(measured: readonly Measured[]): number {
  return median(measured.map(({ bareHashMs }) => bareHashMs));
}

/** Returns the medians of the rounds of each operation at each candidate, in CPU milliseconds. */
export function costMedians(measured: readonly Measured[]) {
  const groups = Map.groupBy(measured, ({ operation, candidate }) => `${operation} ${candidate}`);
  return [...groups.values()].map((rounds) => {
    const of = (pick: (round: Measured) => number) => median(rounds.map(pick));
    const { operation, candidate } = rounds[0] as Measured;
    return {
      ...{ operation, candidate },
      server: of(({ server }) => server),
      mongod: of(({ mongod }) => mongod),
      redis: of(({ redis }) => redis),
      perSecond: of(({ perSecond }) => perSecond),
      /** Server and MongoDB together. */
      both: of(({ server, mongod }) => server + mongod),
      /** The same in multiples of a bare hash of the same minute, which vary less with the machine's speed. */
      inHashes: of(({ server, mongod, bareHashMs }) => (server + mongod) / bareHashMs),
    };
  });
}

/** Costs of operations at several candidates. */
export interface Costs {
  readonly costs: readonly MedianCost[];
  readonly colds: readonly ColdCost[];
  readonly warmUps: readonly WarmUp[];
  /** Number of rounds that were repeated because other processes disturbed them. */
  readonly repeated: number;
  /** CPU milliseconds. */
  readonly bareHashMs: number;
}

/** Formats the costs as a Markdown table. */
export function costTable({ costs, colds, warmUps }: Costs): string {
  const head = [
    ...['operation', 'server', 'its CPU ms', 'MongoDB', 'Redis', 'server and MongoDB', 'in bare hashes'],
    ...['beside api', 'per second', 'per CPU second', 'cold', 'operations before'],
  ];
  const rows = costs.map((cost) => {
    const { operation, candidate, server, mongod, redis, both, inHashes, perSecond } = cost;
    const isSame = (other: { operation: string; candidate: string }) =>
      other.operation === operation && other.candidate === candidate;
    const own = costs.find((other) => other.operation === operation && other.candidate === 'api');
    return [
      ...[operation, candidate],
      ...[server, mongod, redis, both].map((ms) => ms.toFixed(2)),
      inHashes.toFixed(inHashes < 1 ? 3 : 2),
      candidate === 'api' ? '' : `${(both / (own?.both ?? Number.NaN)).toFixed(2)} ×`,
      perSecond.toFixed(0),
      (1_000 / both).toFixed(0),
      colds.find(isSame)?.both.toFixed(2) ?? '–',
      warmUpText(warmUps.find(isSame)),
    ];
  });
  return markdownTable(head, rows);
}

/** Shows the number of operations in the warm-up, and whether the cost had stopped changing after them. */
function warmUpText(warmUp: WarmUp | undefined): string {
  if (warmUp === undefined) return '–';
  const count = warmUp.operations.toLocaleString('en');
  return warmUp.isSteady ? count : `${count}, still moving`;
}

/** Formats the costs of a run so far, for the terminal. */
export function costText(costs: Costs): string {
  const { bareHashMs, repeated } = costs;
  return `${costTable(costs)}\n\nA bare Argon2id hash: ${bareHashMs.toFixed(2)} ms; ${repeated} disturbed rounds were repeated`;
}
