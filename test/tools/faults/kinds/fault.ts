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
  inject(stack: FaultStack, random: () => number): Promise<{ readonly detail: string; fix?(): unknown }>;
}

/** Yields all kinds round after round, each round in random order. */
export function* faultSequence(kinds: readonly FaultKind[], random: () => number): Generator<FaultKind, never> {
  for (;;) {
    const left = [...kinds];
    while (left.length > 0) yield* left.splice(Math.floor(random() * left.length), 1);
  }
}
