import type { Aim } from './aim.ts';
import { deviceDaysOf } from './device-day.ts';
import { deviceDayAims } from './device-day-aims.ts';
import { floodAims } from './flood-aims.ts';
import { growthAims } from './growth-aims.ts';
import { operationAims } from './operation-aims.ts';
import { pushAims } from './push-aims.ts';
import type { BenchResults } from './results.ts';

/** Returns the aims of the parts that were measured. */
export function aimsOf(results: BenchResults): Aim[] {
  const { operations, push, growth, flood } = results;
  const peers = operations?.peers.map(({ name }) => name) ?? [];
  return [
    ...(operations ? operationAims(operations) : []),
    ...(push ? pushAims(push) : []),
    ...(growth ? growthAims(growth) : []),
    ...(flood ? floodAims(flood) : []),
    ...deviceDayAims(deviceDaysOf(results), peers),
  ];
}
