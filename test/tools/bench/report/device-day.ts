import type { MedianCost } from '../cost/cost-medians.ts';
import type { OperationsResult } from '../cost/measure-operations.ts';
import { operationNames } from '../cost/operations.ts';
import type { BenchResults } from './results.ts';

/** Requests of a device in a day. */
export const askedADay = {
  refresh: 24,
  handshake: 10,
  'session read': 6,
  login: 0.05,
  logout: 0.02,
  register: 0.01,
} as const;

export type DailyTask = keyof typeof askedADay;
export const dailyTasks = Object.keys(askedADay) as DailyTask[];

/** CPU of one server and its stores for one device, in milliseconds a day. */
export interface DeviceDay {
  readonly candidate: string;
  /** Tasks that were measured at this server, and what they take in a day. */
  readonly tasks: Readonly<Partial<Record<DailyTask, number>>>;
  readonly ms: number;
  /** CPU milliseconds of the api for the tasks that both have. */
  readonly ofApi: number;
}

const dayMs = 86_400_000;

/**
 * Sums up a device-day of each server: server, MongoDB and Redis. The gateway's handshakes belong to the api. Nothing
 * is returned unless every operation was measured at the api.
 */
export function deviceDays({ costs }: Pick<OperationsResult, 'costs'>, handshakeMs?: number): DeviceDay[] {
  const own = tasksOf('api', costs, handshakeMs);
  if (operationNames.some((name) => own[name] === undefined)) return [];
  const candidates = [...new Set(costs.map(({ candidate }) => candidate))];
  return candidates.map((candidate) => {
    const tasks = candidate === 'api' ? own : tasksOf(candidate, costs);
    const shared = dailyTasks.filter((task) => tasks[task] !== undefined);
    return { candidate, tasks, ms: sumOf(tasks, shared), ofApi: sumOf(own, shared) };
  });
}

/** Sums up the device-days of a run, with the handshakes at the largest number of streams if they were measured. */
export function deviceDaysOf({ operations, push }: BenchResults): DeviceDay[] {
  if (operations === undefined) return [];
  return deviceDays(operations, push?.candidates.gateway?.levels.at(-1)?.cpuMsPerHandshake);
}

/** Returns the cores that a million devices keep busy, if they ask evenly through the day. */
export function coresForMillion({ ms }: Pick<DeviceDay, 'ms'>): number {
  return (ms * 1_000_000) / dayMs;
}

function tasksOf(candidate: string, costs: readonly MedianCost[], handshakeMs?: number): DeviceDay['tasks'] {
  const found = costs
    .filter((cost) => cost.candidate === candidate)
    .map(({ operation, both, redis }) => [operation, (both + redis) * askedADay[operation]] as const);
  const handshakes = handshakeMs === undefined ? {} : { handshake: handshakeMs * askedADay.handshake };
  return { ...Object.fromEntries(found), ...handshakes };
}

function sumOf(tasks: DeviceDay['tasks'], names: readonly DailyTask[]): number {
  return names.reduce((sum, name) => sum + (tasks[name] ?? 0), 0);
}
