import { availableParallelism } from 'node:os';
import type { Load } from './measure-operation.ts';
import { hashedOperations, type OperationName } from './operations.ts';
import type { WarmUpLoad } from './warm-up.ts';

/** Operations at once, except those with a hash, which run one after another as the bare hash does. */
export const defaultAtOnce = 8;

/**
 * Rounds of the warm-up. V8 compiles in threads of its own for many thousands of operations, so the whole process is
 * looked at; where each operation needs a hash, the event loop alone: hashes cost the same from the first one on, and
 * would hide the rest. So those rounds use all cores.
 */
export function warmUpLoad(name: OperationName): WarmUpLoad {
  return hashedOperations.has(name)
    ? { count: 60, atOnce: availableParallelism(), mostRounds: 30, looksAt: 'loop' }
    : { count: 300, atOnce: defaultAtOnce, mostRounds: 75, looksAt: 'server' };
}

/** The first operations of a process. */
export function coldLoad(name: OperationName): Load {
  return hashedOperations.has(name) ? { count: 30, atOnce: 1 } : { count: 150, atOnce: defaultAtOnce };
}
