import { waitUntil } from '@auth-account/local-stack';
import type { FaultStack } from '../stack/start-fault-stack.ts';

/** One kind of fault, and its repair. */
export interface FaultKind {
  /** Begins with `kill -9` if a process is killed without warning. */
  readonly name: string;
  /** The shortest and the longest duration of the fault, in milliseconds. */
  readonly holdMs: readonly [number, number];
  /** Returns the reason why the fault is impossible here; undefined if it is possible. */
  findObstacle?(stack: FaultStack): string | undefined;
  /** Causes the fault. The result describes the fault, and can repair it, unless it needs no repair. */
  inject(stack: FaultStack, random: () => number): Promise<InjectedFault>;
}

export interface InjectedFault {
  readonly detail: string;
  fix?(): unknown;
}

/** Returns the primary, when there is one. */
export async function primaryOf({ replicaSet }: FaultStack): Promise<number> {
  let primary: number | undefined;
  const isThere = async () => {
    primary = await replicaSet.findPrimary();
    return primary !== undefined;
  };
  await waitUntil(isThere, { what: 'A primary', timeoutMs: 60_000 });
  return primary ?? 0;
}
