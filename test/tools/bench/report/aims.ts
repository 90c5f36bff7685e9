import type { Costs } from '../cost/cost-table.ts';
import type { OverloadResult } from '../cost/measure-overload.ts';
import type { OperationName } from '../cost/operations.ts';
import type { GrowthLevel } from '../growth/measure-growth.ts';
import type { OtherUse, QuietWait } from '../machine/cpu-counters.ts';
import type { Machine } from '../machine/describe-machine.ts';
import type { BroadcastLevel } from '../push/measure-broadcasts.ts';
import type { LogoutResult } from '../push/measure-logouts.ts';
import type { StreamsResult } from '../push/measure-streams.ts';
import type { Percentiles } from './figures.ts';

/** Results of a run of `npm run bench`, for the parts that were measured. */
export interface BenchResults {
  readonly machine: Machine;
  readonly minutes: number;
  readonly surroundings: readonly Surroundings[];
  readonly operations?: OperationsResult;
  readonly events?: Percentiles;
  readonly push?: PushResult;
  readonly growth?: readonly GrowthLevel[];
}

/** The machine's use by others while a part was measured. */
export interface Surroundings extends QuietWait, OtherUse {
  readonly part: string;
  /** The duration of the part, without the wait before it. */
  readonly seconds: number;
}

/** `betterAuth` is its version; undefined if it was not installed. */
export type OperationsResult = Costs & {
  readonly betterAuth?: string | undefined;
  readonly overload?: OverloadResult | undefined;
};

export interface PushResult {
  readonly streams: StreamsResult;
  readonly broadcasts: readonly BroadcastLevel[];
  readonly logouts: LogoutResult;
}

/** An aim, and its result. */
export type Aim = ReturnType<typeof atMost>;

/** Returns the aims of the parts that were measured. */
export function aimsOf({ operations, push, growth }: BenchResults): Aim[] {
  return [
    ...(operations ? operationAims(operations) : []),
    ...(push ? pushAims(push) : []),
    ...(growth ? growthAims(growth) : []),
  ];
}

/** Creates an aim with an upper limit. NaN does not meet it. */
function atMost(max: number, unit: string, what: string, value: number) {
  const show = (figure: number) => `${figure.toFixed(2)} ${unit}`;
  return { what, aim: `≤ ${show(max)}`, measured: show(value), isMet: value <= max };
}

/** Largest costs of api and MongoDB together, beside the bare prototype and beside better-auth with the same hash. */
const maxOfPrototype = { register: 1.15, login: 1.15, 'session read': 1.25, refresh: 1.25, logout: 1.25 } as const;
const maxOfBetterAuth: Partial<Record<OperationName, number>> = { 'session read': 0.5, refresh: 0.75, logout: 0.75 };

function operationAims({ costs }: OperationsResult): Aim[] {
  const of = (candidate: string) => costs.filter((cost) => cost.candidate === candidate);
  const beside = (name: string, max: Partial<Record<OperationName, number>>) =>
    of('api').flatMap(({ operation, both }) => {
      const limit = max[operation];
      const other = of(name).find((cost) => cost.operation === operation)?.both ?? Number.NaN;
      return limit === undefined ? [] : [atMost(limit, '×', `${operation}: beside ${name}`, both / other)];
    });
  const hasBetterAuth = of('better-auth').length > 0;
  return [
    ...beside('bare prototype', maxOfPrototype),
    ...(hasBetterAuth ? beside('better-auth', maxOfBetterAuth) : []),
  ];
}

/** The largest growth that counts as flat, because rounds of the same measurement differ by as much. */
const maxGrowth = 1.25;

function pushAims({ streams: { levels, idleCpuPercent, incidents } }: PushResult): Aim[] {
  const [first, last] = [levels[0], levels.at(-1)];
  if (first === undefined || last === undefined) return [];
  const { commandToClose: closes, streams } = last;
  const besideFirst = (share: string) => `command → close, ${share}: ${streams} streams beside ${first.streams}`;
  return [
    atMost(2, 'KB', `memory of an idle stream, at ${streams}`, last.bytesPerStream / 1_000),
    atMost(0.15, 'cores', `gateway at rest, with ${streams} streams`, idleCpuPercent / 100),
    atMost(maxGrowth, '×', besideFirst('p50'), closes.p50 / first.commandToClose.p50),
    atMost(1.5, '×', besideFirst('p99'), closes.p99 / first.commandToClose.p99),
    atMost(0, 'streams', 'lost while Redis was lost', incidents.lostRedis.lost),
    atMost(90, 's', `return of ${streams} streams to a gateway that was killed`, incidents.restart.secondsToAll),
  ];
}

function growthAims(levels: readonly GrowthLevel[]): Aim[] {
  // The level with the smallest cache has no aim.
  const max = Math.max(...levels.map(({ cacheMib }) => cacheMib));
  const roomy = levels.filter(({ cacheMib }) => cacheMib === max);
  const [first, last] = [roomy[0], roomy.at(-1)];
  if (first === undefined || last === undefined || first === last) return [];
  const [few, many] = [first, last].map(({ users }) => users.toLocaleString('en'));
  const growth = (what: string, ratio: number) =>
    atMost(maxGrowth, '×', `${what}: cost with ${many} users beside ${few}`, ratio);
  return [
    ...first.costs.map(({ operation, both }) => growth(operation, costAt(last, operation) / both)),
    growth('expiry', last.expiryMs / first.expiryMs),
  ];
}

/** Returns the CPU milliseconds of api and MongoDB together. */
export function costAt({ costs }: GrowthLevel, operation: OperationName): number {
  return costs.find((cost) => cost.operation === operation)?.both ?? Number.NaN;
}
