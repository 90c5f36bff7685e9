import { availableParallelism } from 'node:os';
import type { TestServers } from '@auth-account/local-stack';
import { installedVersion } from '../peers/peer-installs.ts';
import type { Candidate } from './candidate.ts';
import { costMedians, type MedianCost } from './cost-medians.ts';
import { costTable } from './cost-table.ts';
import { type Load, measureOperation } from './measure-operation.ts';
import { measureSideBySide } from './measure-side-by-side.ts';
import { medianOf } from './median-of.ts';
import { hashedOperations, measuringOrder, type OperationName, operationNames } from './operations.ts';
import { apiOf, barePrototype, startOwnCandidate } from './own-candidate.ts';
import { startPeerCandidate } from './peer-candidate.ts';
import type { Peer } from './peers.ts';

export interface OperationsOptions {
  readonly project: string;
  /** Seconds of wall-clock time, for each operation at each server. */
  readonly seconds: number;
  /** Names of the installed peers. */
  readonly peers: readonly Peer[];
  readonly log: (line: string) => void;
}

/** Costs of api, bare prototype and peers, measured in turns. */
export interface OperationsResult {
  /** Operations that need a hash run one after another, the others eight at once. */
  readonly costs: readonly MedianCost[];
  /** CPU milliseconds. */
  readonly bareHashMs: number;
  /** Operations with a hash answered per second of wall-clock time, with enough at once for all cores. */
  readonly rates: readonly {
    readonly operation: OperationName;
    readonly candidate: string;
    readonly perSecond: number;
  }[];
  readonly peers: readonly (Pick<Peer, 'name' | 'hash' | 'offers'> & { readonly version: string })[];
}

const rounds = 3;
const atOnce = 8;
/** V8 has compiled the hot paths after a few thousand requests. */
const warmUpCount = 2_500;
const warmUpHashes = 400;

export async function measureOperations(servers: TestServers, options: OperationsOptions): Promise<OperationsResult> {
  const { project, seconds, log } = options;
  const candidates: Candidate[] = [];
  try {
    for (const plan of [apiOf('api', project), barePrototype]) candidates.push(await startOwnCandidate(plan, servers));
    for (const peer of options.peers) candidates.push(await startPeerCandidate(peer, servers));
    const { measured, hashes } = await measureSideBySide(candidates, servers, {
      names: measuringOrder,
      rounds,
      warmUp: (name) => warmUpLoad(name, seconds),
      load: (name, { perSecond }) => ({
        count: Math.ceil((perSecond * seconds) / rounds),
        atOnce: hashedOperations.has(name) ? 1 : atOnce,
      }),
      onOperation: (done) => log(costTable(done)),
    });
    const place = ({ operation }: MedianCost) => operationNames.indexOf(operation);
    const costs = costMedians(measured).toSorted((a, b) => place(a) - place(b));
    return {
      costs,
      bareHashMs: medianOf(hashes),
      rates: await measureRates(candidates, servers, costs, seconds / 2),
      peers: await Promise.all(
        options.peers.map(async ({ name, hash, offers }) => ({
          ...{ name, hash, offers },
          version: await installedVersion(name),
        })),
      ),
    };
  } finally {
    for (const candidate of candidates) await candidate.end();
  }
}

/** Shorter in a short run. */
function warmUpLoad(name: OperationName, seconds: number): Load {
  const share = Math.min(1, seconds / 5);
  return hashedOperations.has(name)
    ? { count: Math.ceil(warmUpHashes * share), atOnce: 1 }
    : { count: Math.ceil(warmUpCount * share), atOnce };
}

async function measureRates(
  candidates: readonly Candidate[],
  servers: TestServers,
  costs: readonly MedianCost[],
  seconds: number,
): Promise<OperationsResult['rates']> {
  const cores = availableParallelism();
  const rates: OperationsResult['rates'][number][] = [];
  for (const { operation, candidate: name, perSecond } of costs) {
    const candidate = candidates.find((each) => each.name === name);
    if (candidate === undefined || !hashedOperations.has(operation)) continue;
    const load = { count: Math.ceil(perSecond * cores * seconds), atOnce: 2 * cores };
    const measured = await measureOperation(operation, candidate, servers, load);
    rates.push({ operation, candidate: name, perSecond: measured.perSecond });
  }
  return rates;
}
