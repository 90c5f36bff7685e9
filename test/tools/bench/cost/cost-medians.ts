import type { OperationCost } from './measure-operation.ts';
import type { Measured } from './measure-side-by-side.ts';
import { medianOf } from './median-of.ts';
import type { OperationName } from './operations.ts';

/** Medians of the rounds of an operation at a candidate, in CPU milliseconds. */
export interface MedianCost extends OperationCost {
  readonly operation: OperationName;
  readonly candidate: string;
  /** Server and MongoDB together. */
  readonly both: number;
  /** The same in multiples of a bare hash of the same minute, which vary less with the machine's speed. */
  readonly inHashes: number;
}

/** Returns the median of the bare hash's CPU milliseconds in all rounds. */
export function medianHashMs(measured: readonly Measured[]): number {
  return medianOf(measured.map(({ bareHashMs }) => bareHashMs));
}

export function costMedians(measured: readonly Measured[]): MedianCost[] {
  const groups = Map.groupBy(measured, ({ operation, candidate }) => `${operation} ${candidate}`);
  return [...groups.values()].flatMap((rounds) => {
    const [first] = rounds;
    if (first === undefined) return [];
    const of = (pick: (cost: OperationCost) => number) => medianOf(rounds.map(({ cost }) => pick(cost)));
    return {
      operation: first.operation,
      candidate: first.candidate,
      server: of(({ server }) => server),
      mongod: of(({ mongod }) => mongod),
      redis: of(({ redis }) => redis),
      perSecond: of(({ perSecond }) => perSecond),
      both: of(({ server, mongod }) => server + mongod),
      inHashes: medianOf(rounds.map(({ cost, bareHashMs }) => (cost.server + cost.mongod) / bareHashMs)),
    };
  });
}
