import { type Aim, atLeastTimes } from './aim.ts';
import type { DeviceDay } from './device-day.ts';

/** A third of the best peer's. */
const leastTimes = 3;

/** Compares with the peer that comes nearest, over the tasks that both have. */
export function deviceDayAims(days: readonly DeviceDay[], peers: readonly string[]): Aim[] {
  const [best] = days
    .filter(({ candidate }) => peers.includes(candidate))
    .map(({ candidate, ms, ofApi }) => ({ times: ms / ofApi, shown: `${candidate}: ${ms.toFixed(1)} ms` }))
    .toSorted((a, b) => a.times - b.times);
  if (best === undefined) return [];
  return [atLeastTimes('a device-day: less than the best peer, of what both have', best.times, leastTimes, best.shown)];
}
