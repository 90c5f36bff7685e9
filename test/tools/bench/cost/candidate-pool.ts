import type { Candidate } from './candidate.ts';
import type { OperationName, OperationRun } from './operations.ts';

/** Returns the function that runs one of the next `count` operations, by its index. */
export type CandidatePool = (count: number) => Promise<OperationRun>;

/** Creates the data for several rounds together, so that little is written right before a round. */
export function createCandidatePool(
  candidate: Candidate,
  operation: OperationName,
  preparedRounds: number,
): CandidatePool {
  let made: { readonly run: OperationRun; readonly count: number; used: number } | undefined;
  return async (count) => {
    if (made === undefined || made.used + count > made.count) {
      const total = count * preparedRounds;
      made = { run: await candidate.prepare(operation, total), count: total, used: 0 };
    }
    const { run, used } = made;
    made.used += count;
    return (index) => run(used + index);
  };
}
