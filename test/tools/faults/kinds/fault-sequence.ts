import type { FaultStack } from '../stack/start-fault-stack.ts';
import type { FaultKind } from './fault.ts';
import { linkFaults } from './link-faults.ts';
import { mongoFaults } from './mongo-faults.ts';
import { redisFaults } from './redis-faults.ts';
import { serviceFaults } from './service-faults.ts';

const all: readonly FaultKind[] = [...mongoFaults, ...redisFaults, ...serviceFaults, ...linkFaults];

/** Returns the kinds of fault that are possible here, and logs the others. */
export function possibleFaults(stack: FaultStack, log: (line: string) => void): FaultKind[] {
  return all.filter(({ name, findObstacle }) => {
    const obstacle = findObstacle?.(stack);
    if (obstacle !== undefined) log(`left out: ${name} (${obstacle})`);
    return obstacle === undefined;
  });
}

/** Yields all kinds round after round, each round in random order. */
export function* faultSequence(kinds: readonly FaultKind[], random: () => number): Generator<FaultKind, never> {
  for (;;) {
    const left = [...kinds];
    while (left.length > 0) yield* left.splice(Math.floor(random() * left.length), 1);
  }
}
