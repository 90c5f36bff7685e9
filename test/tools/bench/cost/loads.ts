import { availableParallelism } from 'node:os';
import type { Load } from './measure-operation.ts';
import { hashedOperations, type OperationName } from './operations.ts';
import type { WarmUpLoad } from './warm-up.ts';

/** Number of operations at once. Those with a hash run one after another, as the bare hash does. */
export const defaultAtOnce = 8;

/**
 * Returns the rounds of the warm-up. V8 compiles in separate threads during many thousands of operations, so the cost
 * of the whole process must stop changing. If each operation needs a hash, only the event loop's cost must, because
 * hashes cost the same from the first on and would hide the rest. Rounds with hashes can therefore use all cores.
 */
export function warmUpLoad(name: OperationName): WarmUpLoad {
  return hashedOperations.has(name)
    ? { count: 60, atOnce: availableParallelism(), maxRounds: 30, looksAt: 'loop' }
    : { count: 300, atOnce: defaultAtOnce, maxRounds: 75, looksAt: 'server' };
}

/** Returns how many operations of a new process count as its first. */
export function coldLoad(name: OperationName): Load {
  return hashedOperations.has(name) ? { count: 30, atOnce: 1 } : { count: 150, atOnce: defaultAtOnce };
}
