import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import type { Candidate } from './candidate.ts';
import { createCandidatePool } from './candidate-pool.ts';
import { type Load, measureRound, type OperationCost } from './measure-operation.ts';
import type { OperationName } from './operations.ts';
import { comparedRounds, standsStill } from './steady-state.ts';

/** Outcome of warming a server for an operation. */
export interface WarmUp {
  readonly operation: OperationName;
  readonly candidate: string;
  /** Number of operations until the cost was steady, or until the bound. */
  readonly operations: number;
  readonly isSteady: boolean;
}

export interface WarmUpLoad extends Load {
  /** Largest number of rounds. */
  readonly maxRounds: number;
  /** The cost that has to become steady. */
  readonly looksAt: 'server' | 'loop';
}

/** Has the server answer rounds of the operation until its CPU time for one operation is steady. */
export async function warmUp(
  operation: OperationName,
  candidate: Candidate,
  servers: TestServers,
  { count, atOnce, maxRounds, looksAt }: WarmUpLoad,
): Promise<{ done: WarmUp; last: OperationCost }> {
  const candidatePool = createCandidatePool(candidate, operation, comparedRounds);
  const costs: number[] = [];
  for (;;) {
    const round = await measureRound(await candidatePool(count), candidate, servers, { count, atOnce });
    costs.push(round[looksAt]);
    const isSteady = standsStill(costs);
    if (!isSteady && costs.length < maxRounds) continue;
    const operations = costs.length * count;
    return { done: { operation, candidate: candidate.name, operations, isSteady }, last: round };
  }
}
