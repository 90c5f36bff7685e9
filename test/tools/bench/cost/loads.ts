import { availableParallelism } from 'node:os';
import type { Load } from './measure-operation.ts';
import { hashedOperations, type OperationName } from './operations.ts';
import type { WarmUpLoad } from './warm-up.ts';

/** Operations at once, except those with a hash, which run one after another as the bare hash does. */
export const defaultAtOnce = 8;

/** Rounds of the warm-up. Those with a hash use all cores, as nothing but the event loop is looked at. */
export function warmUpLoad(name: OperationName): WarmUpLoad {
  return hashedOperations.has(name)
    ? { count: 60, atOnce: availableParallelism(), mostRounds: 30 }
    : { count: 300, atOnce: defaultAtOnce, mostRounds: 60 };
}

/** The first operations of a process. */
export function coldLoad(name: OperationName): Load {
  return hashedOperations.has(name) ? { count: 30, atOnce: 1 } : { count: 150, atOnce: defaultAtOnce };
}
