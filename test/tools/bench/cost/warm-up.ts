import type { TestServers } from '@auth-account/local-stack';
import type { Candidate } from './candidate.ts';
import { type Load, measureRound, type OperationCost } from './measure-operation.ts';
import type { OperationName } from './operations.ts';
import { comparedRounds, standsStill } from './steady-state.ts';
import { createSupply } from './supply.ts';

/** Outcome of warming a server for an operation. */
export interface WarmUp {
  readonly operation: OperationName;
  readonly candidate: string;
  /** Operations answered until its cost stood still, or until the bound. */
  readonly operations: number;
  readonly isSteady: boolean;
}

export interface WarmUpLoad extends Load {
  /** Bound of the number of rounds. */
  readonly mostRounds: number;
}

/**
 * Has the server answer rounds of the operation until the CPU time of its event loop for one of them stands still:
 * there the code runs that V8 compiles. The hash, in other threads, costs the same from the first one on.
 */
export async function warmUp(
  operation: OperationName,
  candidate: Candidate,
  servers: TestServers,
  { count, atOnce, mostRounds }: WarmUpLoad,
): Promise<{ done: WarmUp; last: OperationCost }> {
  const supply = createSupply(candidate, operation, comparedRounds);
  const loops: number[] = [];
  for (;;) {
    const round = await measureRound(await supply(count), candidate, servers, { count, atOnce });
    loops.push(round.loop);
    const isSteady = standsStill(loops);
    if (!isSteady && loops.length < mostRounds) continue;
    const operations = loops.length * count;
    return { done: { operation, candidate: candidate.name, operations, isSteady }, last: round };
  }
}
