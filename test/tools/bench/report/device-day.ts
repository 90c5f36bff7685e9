import type { MedianCost } from '../cost/cost-medians.ts';
import type { OperationsResult } from '../cost/measure-operations.ts';
import { operationNames } from '../cost/operations.ts';
import type { BenchResults } from './results.ts';
import { markdownTable, paragraphs, type Section } from './section.ts';

/** A device's requests in a day. */
const askedADay = {
  refresh: 24,
  handshake: 10,
  'session read': 6,
  login: 0.05,
  logout: 0.02,
  register: 0.01,
} as const;

type DailyTask = keyof typeof askedADay;
const dailyTasks = Object.keys(askedADay) as DailyTask[];

/** CPU milliseconds of one server and its stores for one device in a day. */
export interface DeviceDay {
  readonly candidate: string;
  /** The tasks that were measured at this server, with their CPU milliseconds in a day. */
  readonly tasks: Readonly<Partial<Record<DailyTask, number>>>;
  readonly ms: number;
  /** CPU milliseconds of the api for the tasks that both have. */
  readonly ofApi: number;
}

const dayMs = 86_400_000;

/**
 * Returns the device-day of each server, as the sum of server, MongoDB and Redis. The gateway's handshakes count for
 * the api. The list is empty unless every operation was measured at the api.
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

/** Returns the device-days of a run. Handshakes, if they were measured, count as at the largest number of streams. */
export function deviceDaysOf({ operations, push }: BenchResults): DeviceDay[] {
  if (operations === undefined) return [];
  return deviceDays(operations, push?.candidates.gateway?.levels.at(-1)?.cpuMsPerHandshake);
}

/** Returns the cores that a million devices keep busy, if their requests are spread evenly over the day. */
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

export function deviceDaySection(days: readonly DeviceDay[], { peers }: Pick<OperationsResult, 'peers'>): Section {
  const asked = dailyTasks.map((task) => `${task}, ${askedADay[task]} ×`);
  return {
    heading: 'A device-day',
    text: paragraphs(
      'CPU milliseconds of server, MongoDB and Redis for one device in one day, and the cores that a million devices keep busy if their requests are spread evenly over the day. The cost of a handshake is that of the push gateway’s process, at the largest number of streams.',
      peers.length === 0
        ? ''
        : 'A task that a server does not have counts as nothing; for example, none of the peers opens streams. So each peer is compared with the api over the tasks that both have: *beside api* divides by the api’s cost of the same tasks.',
      markdownTable(
        ['server', ...asked, 'a device-day', 'the same tasks at the api', 'beside api', 'cores for a million'],
        days.map(deviceDayRow),
      ),
    ),
    plots: {},
  };
}

function deviceDayRow(day: DeviceDay): string[] {
  const { candidate, tasks, ms, ofApi } = day;
  const missing = dailyTasks.filter((task) => tasks[task] === undefined);
  const total = `${ms.toFixed(1)} ms`;
  return [
    candidate,
    ...dailyTasks.map((task) => tasks[task]?.toFixed(2) ?? '–'),
    missing.length === 0 ? total : `${total}, without ${missing.join(', ')}`,
    candidate === 'api' ? '' : `${ofApi.toFixed(1)} ms`,
    candidate === 'api' ? '' : `${(ms / ofApi).toFixed(2)} ×`,
    coresForMillion(day).toFixed(2),
  ];
}
