import { availableParallelism } from 'node:os';
import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { installedVersion } from '../peers/peer-installs.ts';
import type { Candidate } from './candidate.ts';
import { type ColdCost, measureCold } from './cold-cost.ts';
import { costMedians, type MedianCost, medianHashMs } from './cost-medians.ts';
import { costTable } from './cost-table.ts';
import { coldLoad, defaultAtOnce, warmUpLoad } from './loads.ts';
import { measureOperation } from './measure-operation.ts';
import { measureSideBySide } from './measure-side-by-side.ts';
import { hashedOperations, type OperationName, operationNames } from './operations.ts';
import { apiOf, barePrototype, startOwnCandidate } from './own-candidate.ts';
import { startPeerCandidate } from './peer-candidate.ts';
import type { Peer } from './peers.ts';
import type { WarmUp } from './warm-up.ts';

export interface OperationsOptions {
  readonly project: string;
  /** The operations to measure, in this order. */
  readonly names: readonly OperationName[];
  /** Seconds of wall-clock time, for each operation at each server. */
  readonly seconds: number;
  /** The installed peers. */
  readonly peers: readonly Peer[];
  readonly log: (line: string) => void;
}

/** Costs of api, bare prototype and peers, measured in turns. */
export interface OperationsResult {
  /** Costs of operations that ran one after another if they need a hash, and otherwise eight at once. */
  readonly costs: readonly MedianCost[];
  readonly colds: readonly ColdCost[];
  readonly warmUps: readonly WarmUp[];
  /** Number of rounds that were repeated because other processes disturbed them. */
  readonly repeated: number;
  /** CPU milliseconds. */
  readonly bareHashMs: number;
  /** Operations with a hash that were answered per second of wall-clock time, with enough at once for all cores. */
  readonly rates: readonly {
    readonly operation: OperationName;
    readonly candidate: string;
    readonly perSecond: number;
  }[];
  readonly peers: readonly (Pick<Peer, 'name' | 'hash' | 'offers'> & { readonly version: string })[];
}

/** Many short rounds, because the machine's neighbours change its speed within seconds. */
export const rounds = 21;

export async function measureOperations(servers: TestServers, options: OperationsOptions): Promise<OperationsResult> {
  const { project, names, seconds, log } = options;
  const starts = [
    ...[apiOf('api', project), barePrototype].map((plan) => () => startOwnCandidate(plan, servers)),
    ...options.peers.map((peer) => () => startPeerCandidate(peer, servers)),
  ];
  const colds: ColdCost[] = [];
  for (const start of starts) colds.push(...(await measureCold(start, names, servers, coldLoad)));
  const candidates: Candidate[] = [];
  try {
    for (const start of starts) candidates.push(await start());
    const { measured, warmUps, repeated } = await measureSideBySide(candidates, servers, {
      names,
      rounds,
      warmUp: warmUpLoad,
      load(name, { perSecond }) {
        const each = (perSecond * seconds) / rounds;
        // The warm-up of operations with a hash used all cores, but a counted round uses one.
        return hashedOperations.has(name)
          ? { count: Math.ceil(each / availableParallelism()), atOnce: 1 }
          : { count: Math.ceil(each), atOnce: defaultAtOnce };
      },
      onOperation: (done) => log(costTable(done, colds)),
    });
    const place = ({ operation }: MedianCost) => operationNames.indexOf(operation);
    const costs = costMedians(measured).toSorted((a, b) => place(a) - place(b));
    return {
      ...{ costs, colds, warmUps, repeated },
      bareHashMs: medianHashMs(measured),
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
