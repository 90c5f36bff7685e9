import { waitUntil } from '@auth-account/local-stack';
import type { FaultStack } from '../stack/start-fault-stack.ts';

/** One kind of fault, and its repair. */
export interface FaultKind {
  readonly name: string;
  /** True if a process is killed without notice. */
  readonly isKill: boolean;
  /** Duration of the fault: shortest and longest, in milliseconds. */
  readonly holdMs: readonly [number, number];
  /** Undefined if it is possible here, else the reason why not. */
  findObstacle?(stack: FaultStack): string | undefined;
  /** Causes the fault. The result describes it, and repairs it. */
  inject(stack: FaultStack, random: () => number): Promise<InjectedFault>;
}

export interface InjectedFault {
  readonly detail: string;
  mend(): Promise<void>;
}

/** Returns the primary, once there is one. */
export async function primaryOf({ replicaSet }: FaultStack): Promise<number> {
  let primary: number | undefined;
  const isThere = async () => {
    primary = await replicaSet.findPrimary();
    return primary !== undefined;
  };
  await waitUntil(isThere, { what: 'A primary', timeoutMs: 60_000 });
  return primary ?? 0;
}
