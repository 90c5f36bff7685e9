import type { MedianCost } from '../cost/cost-medians.ts';
import type { OperationsResult } from '../cost/measure-operations.ts';
import { hashedOperations, type OperationName } from '../cost/operations.ts';
import { type Aim, atLeastTimes, atMost } from './aim.ts';

/** CPU of the api and of MongoDB together: in bare hashes for operations with one, otherwise in milliseconds. */
const limits = {
  register: { most: 1.6, stretch: 1.35 },
  login: { most: 1.5, stretch: 1.3 },
  'session read': { most: 0.5, stretch: 0.4 },
  refresh: { most: 1.4, stretch: 1.2 },
  logout: { most: 1.35, stretch: 1.15 },
} as const satisfies Record<OperationName, { most: number; stretch?: number }>;

const mostOfPrototype = { register: 1.15, login: 1.08, 'session read': 1.4, refresh: 1.4, logout: 1.4 } as const;
/** It hashes as the api does. */
const sameHash = 'better-auth';
const leastOfPeers = { register: 2.5, login: 2.5, refresh: 3 } as const;

/**
 * Best of the peers that were measured once, at the start of the project, on two cores: CPU milliseconds of server and
 * database. Most of them are not npm packages.
 */
const recordedPeers = {
  register: { name: 'better-auth 1.5', ms: 44.6 },
  login: { name: 'better-auth 1.5', ms: 44.8 },
  refresh: { name: 'Keycloak 26.3', ms: 4.85 },
} as const;

export function operationAims(result: OperationsResult): Aim[] {
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
