import type { TestServers } from '../../../support/start-test-servers.ts';
import type { Candidate } from './candidate.ts';
import { type Load, measureRound, type OperationCost } from './measure-operation.ts';
import type { OperationName } from './operations.ts';
import { comparedRounds, standsStill } from './steady-state.ts';
import { createSupply } from './supply.ts';

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
  readonly mostRounds: number;
  /** The cost that has to become steady. */
  readonly looksAt: 'server' | 'loop';
}

/** Has the server answer rounds of the operation until its CPU time for one operation is steady. */
export async function warmUp(
  operation: OperationName,
  candidate: Candidate,
  servers: TestServers,
  { count, atOnce, mostRounds, looksAt }: WarmUpLoad,
): Promise<{ done: WarmUp; last: OperationCost }> {
  const supply = createSupply(candidate, operation, comparedRounds);
  const costs: number[] = [];
  for (;;) {
    const round = await measureRound(await supply(count), candidate, servers, { count, atOnce });
    costs.push(round[looksAt]);
    const isSteady = standsStill(costs);
    if (!isSteady && costs.length < mostRounds) continue;
    const operations = costs.length * count;
    return { done: { operation, candidate: candidate.name, operations, isSteady }, last: round };
  }
}
