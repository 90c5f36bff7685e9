import type { TestServers } from '@auth-account/local-stack';
import { bareHashMs } from './bare-hash.ts';
import type { Candidate } from './candidate.ts';
import { type Load, measureOperation, type OperationCost } from './measure-operation.ts';
import type { OperationName } from './operations.ts';

/** One round of an operation at a candidate. */
export interface Measured {
  readonly operation: OperationName;
  readonly candidate: string;
  readonly cost: OperationCost;
}

/** All rounds, and the CPU milliseconds of one bare hash, measured between them. */
export interface SideBySide {
  readonly measured: readonly Measured[];
  readonly hashes: readonly number[];
}

export interface SideBySideOptions {
  readonly names: readonly OperationName[];
  /** Rounds of each operation at each candidate, after one for warm-up. */
  readonly rounds: number;
  readonly warmUp: (name: OperationName) => Load;
  /** Number of operations in a counted round, given the result of the warm-up. */
  readonly load: (name: OperationName, warm: OperationCost) => Load;
  /** Called after the rounds of each operation. */
  readonly onOperation: (done: SideBySide) => void;
}

const hashesAtOnce = 10;

/**
 * Measures each operation at all candidates that offer it, in turns, so that other work of the machine affects all of
 * them alike.
 */
export async function measureSideBySide(
  candidates: readonly Candidate[],
  servers: TestServers,
  { names, rounds, warmUp, load, onOperation }: SideBySideOptions,
): Promise<SideBySide> {
  const measured: Measured[] = [];
  const hashes: number[] = [];
  for (const operation of names) {
    const offering = candidates.filter(({ offers }) => offers.includes(operation));
    const loads = new Map<Candidate, Load>();
    for (const candidate of offering) {
      const warm = await measureOperation(operation, candidate, servers, warmUp(operation));
      loads.set(candidate, load(operation, warm));
    }
    const begun = measured.length;
    for (let round = 0; round < rounds; round += 1) {
      for (const [candidate, ofCandidate] of loads) {
        const cost = await measureOperation(operation, candidate, servers, ofCandidate);
        measured.push({ operation, candidate: candidate.name, cost });
      }
      hashes.push(bareHashMs(hashesAtOnce));
    }
    onOperation({ measured: measured.slice(begun), hashes });
  }
  return { measured, hashes };
}
