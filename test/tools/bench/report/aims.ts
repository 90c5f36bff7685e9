import type { MedianCost } from '../cost/cost-medians.ts';
import type { OperationsResult } from '../cost/measure-operations.ts';
import { hashedOperations, type OperationName } from '../cost/operations.ts';
import type { GrowthLevel } from '../growth/measure-growth.ts';
import type { Level } from '../push/measure-streams.ts';
import type { BenchResults, PushResult } from './results.ts';

/** An aim, and its result. */
export interface Aim {
  readonly what: string;
  readonly aim: string;
  readonly measured: string;
  readonly isMet: boolean;
}

/** Returns the aims of the parts that were measured. */
export function aimsOf(results: BenchResults): Aim[] {
  const { operations, push, growth } = results;
  return [
    ...(operations ? operationAims(operations) : []),
    ...(push ? pushAims(push) : []),
    ...(growth ? growthAims(growth) : []),
  ];
}

interface Limit {
  readonly what: string;
  readonly value: number;
  readonly max: number;
  readonly show: (value: number) => string;
}

/** Creates an aim with an upper limit. NaN does not meet it. */
function atMost({ what, value, max, show }: Limit): Aim {
  return { what, aim: `≤ ${show(max)}`, measured: show(value), isMet: value <= max };
}

/** CPU of the api and of MongoDB together, in bare hashes for operations with a hash, and otherwise in milliseconds. */
const limits = { register: 1.6, login: 1.5, 'session read': 0.5, refresh: 1.4, logout: 1.35 } as const;

const maxOfPrototype = { register: 1.15, login: 1.08, 'session read': 1.4, refresh: 1.4, logout: 1.4 } as const;
/** The peer that hashes as the api does. */
const sameHash = 'better-auth';

function operationAims(result: OperationsResult): Aim[] {
  const own = result.costs.filter(({ candidate }) => candidate === 'api');
  return [
    ...own.map((cost) => costAim(cost)),
    ...own.map((cost) => prototypeAim(cost, result)),
    ...own.flatMap((cost) => sameHashAims(cost, result)),
  ];
}

function costAim({ operation, both, inHashes }: MedianCost): Aim {
  const what = `${operation}: CPU of api and MongoDB`;
  const max = limits[operation];
  return hashedOperations.has(operation)
    ? atMost({ what, value: inHashes, max, show: (times) => `${times.toFixed(2)} bare hashes` })
    : atMost({ what, value: both, max, show: (ms) => `${ms.toFixed(2)} ms` });
}

function prototypeAim({ operation, both }: MedianCost, { costs }: OperationsResult): Aim {
  const bare = costs.find((each) => each.operation === operation && each.candidate === 'bare prototype');
  const value = both / (bare?.both ?? Number.NaN);
  const show = (times: number) => `${times.toFixed(2)} ×`;
  return atMost({ what: `${operation}: beside the bare prototype`, value, max: maxOfPrototype[operation], show });
}

function sameHashAims({ operation, both }: MedianCost, { costs }: OperationsResult): Aim[] {
  const peer = costs.find((each) => each.operation === operation && each.candidate === sameHash);
  if (peer === undefined) return [];
  const what = `${operation}: beside ${sameHash}, with the same hash`;
  return [atMost({ what, value: both / peer.both, max: 1, show: (times) => `${times.toFixed(2)} ×` })];
}

const ms = (value: number) => `${value.toFixed(2)} ms`;

function pushAims({ streams: { levels }, logouts }: PushResult): Aim[] {
  const last = levels.at(-1);
  if (last === undefined) return [];
  const { commandToClose: closes, streams } = last;
  const tenThousand = 10_000 / last.handshakesPerSecond;
  return [
    atMost({
      what: `memory of an idle stream, at ${streams}`,
      ...{ value: last.bytesPerStream, max: 2_000, show: (bytes: number) => `${(bytes / 1_000).toFixed(2)} KB` },
    }),
    atMost({ what: `command → close, p50, at ${streams} streams`, value: closes.p50, max: 0.6, show: ms }),
    atMost({ what: `command → close, p99, at ${streams} streams`, value: closes.p99, max: 6, show: ms }),
    atMost({
      what: 'HTTP logout → close, p50, one in flight: beyond a bare acknowledged write',
      ...{ value: logouts.single.p50 - logouts.bareWrite.p50, max: 1, show: ms },
    }),
    atMost({ what: 'HTTP logout → close, p99, one in flight', value: logouts.single.p99, max: 10, show: ms }),
    atMost({
      what: '10,000 handshakes, at the rate of the last ones',
      ...{ value: tenThousand, max: 2, show: (seconds: number) => `${seconds.toFixed(2)} s` },
    }),
    flatAim(levels),
  ];
}

function flatAim(levels: readonly Level[]): Aim {
  const [first, last] = [levels[0], levels.at(-1)];
  const value = (last?.commandToClose.p50 ?? Number.NaN) / (first?.commandToClose.p50 ?? Number.NaN);
  const what = `command → close, p50: ${last?.streams} streams beside ${first?.streams}`;
  return atMost({ what, value, max: maxGrowth, show: (times) => `${times.toFixed(2)} ×` });
}

/** The largest growth that counts as flat, because rounds of the same measurement differ by as much. */
const maxGrowth = 1.25;

function growthAims(levels: readonly GrowthLevel[]): Aim[] {
  const roomy = roomyLevels(levels);
  const [first, last] = [roomy[0], roomy.at(-1)];
  if (first === undefined || last === undefined || first === last) return [];
  const many = last.users.toLocaleString('en');
  const few = first.users.toLocaleString('en');
  return first.costs.map(({ operation }) =>
    atMost({
      what: `${operation}: cost with ${many} users beside ${few}`,
      value: costAt(last, operation) / costAt(first, operation),
      max: maxGrowth,
      show: (times) => `${times.toFixed(2)} ×`,
    }),
  );
}

/** Returns the levels with the largest cache, without the level with the smallest. */
function roomyLevels(levels: readonly GrowthLevel[]): GrowthLevel[] {
  const max = Math.max(...levels.map(({ cacheMib }) => cacheMib));
  return levels.filter(({ cacheMib }) => cacheMib === max);
}

/** Returns the CPU milliseconds of api and MongoDB together. */
export function costAt({ costs }: GrowthLevel, operation: OperationName): number {
  return costs.find((cost) => cost.operation === operation)?.both ?? Number.NaN;
}
