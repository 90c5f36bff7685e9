import { waitUntil } from '@auth-account/local-stack';
import type { FaultStack } from '../stack/start-fault-stack.ts';

/** One way to break something, and to mend it again. */
export interface FaultKind {
  readonly name: string;
  /** A process is killed without notice. */
  readonly isKill: boolean;
  /** For how long it stays broken: shortest and longest, in milliseconds. */
  readonly holdMs: readonly [number, number];
  /** Undefined where it can be done here, else why not. */
  findObstacle?(stack: FaultStack): string | undefined;
  /** Breaks it. What it answers says what was done, and mends it. */
  inject(stack: FaultStack, random: () => number): Promise<InjectedFault>;
}

export interface InjectedFault {
  readonly detail: string;
  mend(): Promise<void>;
}

/** The member that takes writes, once there is one. */
export async function primaryOf({ replicaSet }: FaultStack): Promise<number> {
  let primary: number | undefined;
  const isThere = async () => {
    primary = await replicaSet.findPrimary();
    return primary !== undefined;
  };
  await waitUntil(isThere, { what: 'A primary', timeoutMs: 60_000 });
  return primary ?? 0;
}
