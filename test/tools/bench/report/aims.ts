import type { MedianCost } from '../cost/cost-medians.ts';
import type { OperationsResult } from '../cost/measure-operations.ts';
import { hashedOperations, type OperationName } from '../cost/operations.ts';
import type { FloodResult } from '../flood/measure-flood.ts';
import type { GrowthLevel } from '../growth/measure-growth.ts';
import type { Level } from '../push/measure-candidate.ts';
import { type DeviceDay, deviceDaysOf } from './device-day.ts';
import type { BenchResults, PushResult } from './results.ts';

/** An aim, and its result. */
export interface Aim {
  readonly what: string;
  readonly aim: string;
  readonly measured: string;
  readonly isMet: boolean;
  /** A more ambitious aim. */
  readonly stretch?: { readonly aim: string; readonly isMet: boolean };
}

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

interface Limit {
  readonly what: string;
  readonly value: number;
  readonly most: number;
  readonly stretch?: number;
  readonly show: (value: number) => string;
}

/** Creates an aim with an upper limit. NaN does not meet it. */
function atMost({ what, value, most, stretch, show }: Limit): Aim {
  return {
    what,
    aim: `≤ ${show(most)}`,
    measured: show(value),
    isMet: value <= most,
    ...(stretch === undefined ? {} : { stretch: { aim: `≤ ${show(stretch)}`, isMet: value <= stretch } }),
  };
}

/** Creates an aim for a multiple, which must be at least `least`. */
function atLeastTimes(what: string, value: number, least: number, detail: string): Aim {
  return { what, aim: `≥ ${least} ×`, measured: `${value.toFixed(2)} × (${detail})`, isMet: value >= least };
}

/** CPU of the api and of MongoDB together, in bare hashes for operations with a hash, and otherwise in milliseconds. */
const limits = {
  register: { most: 1.6, stretch: 1.35 },
  login: { most: 1.5, stretch: 1.3 },
  'session read': { most: 0.5, stretch: 0.4 },
  refresh: { most: 1.4, stretch: 1.2 },
  logout: { most: 1.35, stretch: 1.15 },
} as const satisfies Record<OperationName, { most: number; stretch?: number }>;

const mostOfPrototype = { register: 1.15, login: 1.08, 'session read': 1.4, refresh: 1.4, logout: 1.4 } as const;
/** The peer that hashes as the api does. */
const sameHash = 'better-auth';
const leastOfPeers = { register: 2.5, login: 2.5, refresh: 3 } as const;

/**
 * The best of the peers that were measured once, at the start of the project, on two cores, in CPU milliseconds of
 * server and database. Most of the peers measured then are not npm packages.
 */
const recordedPeers = {
  register: { name: 'better-auth 1.5', ms: 44.6 },
  login: { name: 'better-auth 1.5', ms: 44.8 },
  refresh: { name: 'Keycloak 26.3', ms: 4.85 },
} as const;

function operationAims(result: OperationsResult): Aim[] {
  const own = result.costs.filter(({ candidate }) => candidate === 'api');
  return [
    ...own.map((cost) => costAim(cost)),
    ...own.map((cost) => prototypeAim(cost, result)),
    ...own.flatMap((cost) => sameHashAims(cost, result)),
    ...own.flatMap((cost) => peerAims(cost, result)),
  ];
}

function costAim({ operation, both, inHashes }: MedianCost): Aim {
  const what = `${operation}: CPU of api and MongoDB`;
  const limit = limits[operation];
  return hashedOperations.has(operation)
    ? atMost({ what, value: inHashes, ...limit, show: (times) => `${times.toFixed(2)} bare hashes` })
    : atMost({ what, value: both, ...limit, show: (ms) => `${ms.toFixed(2)} ms` });
}

function prototypeAim({ operation, both }: MedianCost, { costs }: OperationsResult): Aim {
  const bare = costs.find((each) => each.operation === operation && each.candidate === 'bare prototype');
  const value = both / (bare?.both ?? Number.NaN);
  const show = (times: number) => `${times.toFixed(2)} ×`;
  return atMost({ what: `${operation}: beside the bare prototype`, value, most: mostOfPrototype[operation], show });
}

function sameHashAims({ operation, both }: MedianCost, { costs }: OperationsResult): Aim[] {
  const peer = costs.find((each) => each.operation === operation && each.candidate === sameHash);
  if (peer === undefined) return [];
  const what = `${operation}: beside ${sameHash}, with the same hash`;
  return [atMost({ what, value: both / peer.both, most: 1, show: (times) => `${times.toFixed(2)} ×` })];
}

function peerAims({ operation, both }: MedianCost, { costs, peers }: OperationsResult): Aim[] {
  if (!(operation in leastOfPeers)) return [];
  const name = operation as keyof typeof leastOfPeers;
  const least = leastOfPeers[name];
  const named = new Set(peers.map((peer) => peer.name));
  const ofPeers = costs.filter((each) => each.operation === operation && named.has(each.candidate));
  const [best] = ofPeers.toSorted((a, b) => a.both - b.both);
  const recorded = recordedPeers[name];
  const detail = (peer: string, ms: number) => `${peer}: ${ms.toFixed(2)} ms`;
  const rows = [
    atLeastTimes(
      `${operation}: less than the best peer recorded before`,
      recorded.ms / both,
      least,
      detail(recorded.name, recorded.ms),
    ),
  ];
  if (best === undefined) return rows;
  const ofThisRun = `${operation}: less than the best peer of this run`;
  return [...rows, atLeastTimes(ofThisRun, best.both / both, least, detail(best.candidate, best.both))];
}

const ms = (value: number) => `${value.toFixed(2)} ms`;

function pushAims({ candidates, logouts }: PushResult): Aim[] {
  const levels = candidates.gateway?.levels ?? [];
  const last = levels.at(-1);
  if (last === undefined) return [];
  const { commandToClose: closes, streams } = last;
  const tenThousand = 10_000 / last.handshakesPerSecond;
  return [
    atMost({
      what: `memory of an idle stream, at ${streams}`,
      ...{ value: last.bytesPerStream, most: 2_000, show: (bytes: number) => `${(bytes / 1_000).toFixed(2)} KB` },
    }),
    ...memoryBesides(candidates, levels),
    atMost({ what: `command → close, p50, at ${streams} streams`, value: closes.p50, most: 0.6, show: ms }),
    atMost({ what: `command → close, p99, at ${streams} streams`, value: closes.p99, most: 6, show: ms }),
    atMost({
      what: 'HTTP logout → close, p50, one in flight: beyond a bare acknowledged write',
      ...{ value: logouts.single.p50 - logouts.bareWrite.p50, most: 1, show: ms },
    }),
    atMost({ what: 'HTTP logout → close, p99, one in flight', value: logouts.single.p99, most: 10, show: ms }),
    atMost({
      what: '10,000 handshakes, at the rate of the last ones',
      ...{ value: tenThousand, most: 2, show: (seconds: number) => `${seconds.toFixed(2)} s` },
    }),
    flatAim(levels),
  ];
}

/** The smallest factors by which these peers are to need more memory for a stream. */
const leastMemory = { 'socket.io': 7, centrifugo: 15 } as const;

/** Compares the memory with each peer's, at the largest number of streams that the peer held. */
function memoryBesides(candidates: PushResult['candidates'], own: readonly Level[]): Aim[] {
  return Object.entries(leastMemory).flatMap(([name, least]) => {
    const other = candidates[name]?.levels.at(-1);
    const same = own.find(({ streams }) => streams === other?.streams);
    if (other === undefined || same === undefined) return [];
    const what = `memory of an idle stream: less than ${name}, at ${other.streams}`;
    const shown = `${(other.bytesPerStream / 1_000).toFixed(2)} KB`;
    return [atLeastTimes(what, other.bytesPerStream / same.bytesPerStream, least, shown)];
  });
}

function flatAim(levels: readonly Level[]): Aim {
  const [first, last] = [levels[0], levels.at(-1)];
  const value = (last?.commandToClose.p50 ?? Number.NaN) / (first?.commandToClose.p50 ?? Number.NaN);
  const what = `command → close, p50: ${last?.streams} streams beside ${first?.streams}`;
  return atMost({ what, value, most: mostGrowth, show: (times) => `${times.toFixed(2)} ×` });
}

/** The largest growth that counts as flat, because rounds of the same measurement differ by as much. */
const mostGrowth = 1.25;

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
      most: mostGrowth,
      show: (times) => `${times.toFixed(2)} ×`,
    }),
  );
}

/** Returns the levels with the largest cache, without the level with the smallest. */
function roomyLevels(levels: readonly GrowthLevel[]): GrowthLevel[] {
  const most = Math.max(...levels.map(({ cacheMib }) => cacheMib));
  return levels.filter(({ cacheMib }) => cacheMib === most);
}

/** Returns the CPU milliseconds of api and MongoDB together. */
export function costAt({ costs }: GrowthLevel, operation: OperationName): number {
  return costs.find((cost) => cost.operation === operation)?.both ?? Number.NaN;
}

const mostMs = 1_500;

function floodAims({ admitted, others, restarts, shedShare, sent }: FloodResult): Aim[] {
  const neither = Object.values(others).reduce((sum, count) => sum + count, 0);
  const count = (value: number) => String(value);
  return [
    atMost({ what: 'flood: admitted, p99', value: admitted.p99, most: mostMs, show: (ms) => `${Math.round(ms)} ms` }),
    {
      what: 'flood: the rest is shed with 503 or 429',
      aim: 'all',
      measured: `${(shedShare * 100).toFixed(1)} % of ${sent} shed, ${neither} otherwise`,
      isMet: neither === 0 && admitted.count < sent,
    },
    atMost({ what: 'flood: restarts', value: restarts, most: 0, show: count }),
  ];
}

/** The best peer is to need at least three times as much. */
const leastTimes = 3;

/** Compares with the nearest peer, over the tasks that both have. */
export function deviceDayAims(days: readonly DeviceDay[], peers: readonly string[]): Aim[] {
  const [best] = days
    .filter(({ candidate }) => peers.includes(candidate))
    .map(({ candidate, ms, ofApi }) => ({ times: ms / ofApi, shown: `${candidate}: ${ms.toFixed(1)} ms` }))
    .toSorted((a, b) => a.times - b.times);
  if (best === undefined) return [];
  return [atLeastTimes('a device-day: less than the best peer, of what both have', best.times, leastTimes, best.shown)];
}
