import type { OperationName } from '../cost/operations.ts';
import type { GrowthLevel } from '../growth/measure-growth.ts';
import { type Aim, atMost } from './aim.ts';

/** Largest growth that counts as flat: rounds of the same measurement differ by as much. */
export const mostGrowth = 1.25;

export function growthAims(levels: readonly GrowthLevel[]): Aim[] {
  const roomy = roomyLevels(levels);
  const [first, last] = [roomy[0], roomy.at(-1)];
  if (first === undefined || last === undefined || first === last) return [];
  const many = last.users.toLocaleString('en');
  const few = first.users.toLocaleString('en');
  return first.costs.map(({ operation }) =>
    atMost({
      what: `${operation}: cost with ${many} users beside ${few}`,
      value: costAt(last, operation) / costAt(first, operation),
      most: mostGrowth,
      show: (times) => `${times.toFixed(2)} ×`,
    }),
  );
}

/** Returns the levels with the larger cache, without that with the smallest. */
export function roomyLevels(levels: readonly GrowthLevel[]): GrowthLevel[] {
  const most = Math.max(...levels.map(({ cacheMib }) => cacheMib));
  return levels.filter(({ cacheMib }) => cacheMib === most);
}

/** CPU milliseconds of api and MongoDB together. */
export function costAt({ costs }: GrowthLevel, operation: OperationName): number {
  return costs.find((cost) => cost.operation === operation)?.both ?? Number.NaN;
}
