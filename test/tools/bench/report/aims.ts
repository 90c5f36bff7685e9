import type { Costs, MedianCost } from '../cost/cost-table.ts';
import { hashedOperations, type OperationName } from '../cost/operations.ts';
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
export type OperationsResult = Costs & { readonly betterAuth?: string | undefined };

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

/** CPU of the api and of MongoDB together, in bare hashes for operations with a hash, and otherwise in milliseconds. */
const limits = { register: 1.6, login: 1.5, 'session read': 0.5, refresh: 1.4, logout: 1.35 } as const;

const maxOfPrototype = { register: 1.15, login: 1.08, 'session read': 1.4, refresh: 1.4, logout: 1.4 } as const;

function operationAims({ costs }: OperationsResult): Aim[] {
  const of = (candidate: string) => costs.filter((cost) => cost.candidate === candidate);
  const [own, ofPeer] = [of('api'), of('better-auth')];
  const beside = ({ operation, both }: MedianCost, others: readonly MedianCost[]) =>
    both / (others.find((other) => other.operation === operation)?.both ?? Number.NaN);
  return [
    ...own.map(({ operation, both, inHashes }) => {
      const [unit, value] = hashedOperations.has(operation) ? ['bare hashes', inHashes] : ['ms', both];
      return atMost(limits[operation], unit as string, `${operation}: CPU of api and MongoDB`, value as number);
    }),
    ...own.map((cost) => {
      const what = `${cost.operation}: beside the bare prototype`;
      return atMost(maxOfPrototype[cost.operation], '×', what, beside(cost, of('bare prototype')));
    }),
    ...(ofPeer.length === 0 ? [] : own).map((cost) =>
      atMost(1, '×', `${cost.operation}: beside better-auth, with the same hash`, beside(cost, ofPeer)),
    ),
  ];
}

/** The largest growth that counts as flat, because rounds of the same measurement differ by as much. */
const maxGrowth = 1.25;

function pushAims({ streams: { levels }, logouts: { single, bareWrite } }: PushResult): Aim[] {
  const [first, last] = [levels[0], levels.at(-1)];
  if (first === undefined || last === undefined) return [];
  const { commandToClose: closes, streams } = last;
  const beyondWrite = 'HTTP logout → close, p50, one in flight: beyond a bare acknowledged write';
  const besideFirst = (share: string) => `command → close, ${share}: ${streams} streams beside ${first.streams}`;
  return [
    atMost(2, 'KB', `memory of an idle stream, at ${streams}`, last.bytesPerStream / 1_000),
    atMost(0.6, 'ms', `command → close, p50, at ${streams} streams`, closes.p50),
    atMost(6, 'ms', `command → close, p99, at ${streams} streams`, closes.p99),
    atMost(1, 'ms', beyondWrite, single.p50 - bareWrite.p50),
    atMost(10, 'ms', 'HTTP logout → close, p99, one in flight', single.p99),
    atMost(2, 's', '10,000 handshakes, at the rate of the last ones', 10_000 / last.handshakesPerSecond),
    atMost(maxGrowth, '×', besideFirst('p50'), closes.p50 / first.commandToClose.p50),
    atMost(1.5, '×', besideFirst('p99'), closes.p99 / first.commandToClose.p99),
  ];
}

function growthAims(levels: readonly GrowthLevel[]): Aim[] {
  // The level with the smallest cache has no aim.
  const max = Math.max(...levels.map(({ cacheMib }) => cacheMib));
  const roomy = levels.filter(({ cacheMib }) => cacheMib === max);
  const [first, last] = [roomy[0], roomy.at(-1)];
  if (first === undefined || last === undefined || first === last) return [];
  const [few, many] = [first, last].map(({ users }) => users.toLocaleString('en'));
  return first.costs.map(({ operation, both }) => {
    const what = `${operation}: cost with ${many} users beside ${few}`;
    return atMost(maxGrowth, '×', what, costAt(last, operation) / both);
  });
}

/** Returns the CPU milliseconds of api and MongoDB together. */
export function costAt({ costs }: GrowthLevel, operation: OperationName): number {
  return costs.find((cost) => cost.operation === operation)?.both ?? Number.NaN;
}
