import type { Aim } from './aim.ts';
import { floodAims } from './flood-aims.ts';
import { growthAims } from './growth-aims.ts';
import { operationAims } from './operation-aims.ts';
import { pushAims } from './push-aims.ts';
import type { BenchResults } from './results.ts';

/** Returns the aims of the parts that were measured. */
export function aimsOf({ operations, push, growth, flood }: BenchResults): Aim[] {
  return [
    ...(operations ? operationAims(operations) : []),
    ...(push ? pushAims(push) : []),
    ...(growth ? growthAims(growth) : []),
    ...(flood ? floodAims(flood) : []),
  ];
}
