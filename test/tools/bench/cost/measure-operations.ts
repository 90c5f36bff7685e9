import { availableParallelism } from 'node:os';
import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { betterAuthVersion, startBetterAuth } from './better-auth.ts';
import { type Costs, costMedians, costText, type MedianCost, medianHashMs } from './cost-table.ts';
import { measureSideBySide } from './measure-side-by-side.ts';
import { type Candidate, hashedOperations, type OperationName, operationNames } from './operations.ts';
import { apiOf, barePrototype, startOwnCandidate } from './own-candidate.ts';
import { type ColdCost, createRounds, defaultAtOnce, measureCold } from './rounds.ts';

export interface OperationsOptions {
  /** The operations to measure, in this order. */
  readonly names: readonly OperationName[];
  /** Seconds of wall-clock time, for each operation at each server. */
  readonly seconds: number;
  readonly log: (line: string) => void;
}

/**
 * Costs of api, bare prototype and better-auth, measured in turns. Operations with a hash ran one after another, others
 * eight at once. `perSecond` of those with a hash is from a separate round with enough at once for all cores.
 */
export interface OperationsResult extends Costs {
  /** Number of rounds that were repeated because other processes disturbed them. */
  readonly repeated: number;
  /** CPU milliseconds. */
  readonly bareHashMs: number;
  /** The version of better-auth; undefined if it was not installed. */
  readonly betterAuth?: string | undefined;
}

/** Many short rounds, because the machine's neighbours change its speed within seconds. */
export const rounds = 21;

export async function measureOperations(
  servers: TestServers,
  { names, seconds, log }: OperationsOptions,
): Promise<OperationsResult> {
  const betterAuth = betterAuthVersion();
  const cores = availableParallelism();
  const starts: (() => Promise<Candidate>)[] = [
    ...[apiOf('api'), barePrototype].map((plan) => () => startOwnCandidate(plan, servers)),
    ...(betterAuth === undefined ? [] : [() => startBetterAuth(servers)]),
  ];
  const colds: ColdCost[] = [];
  for (const start of starts) colds.push(...(await measureCold(start, names, servers)));
  const candidates: Candidate[] = [];
  try {
    for (const start of starts) candidates.push(await start());
    const { measured, warmUps, repeated } = await measureSideBySide(candidates, servers, {
      names,
      rounds,
      load(name, { perSecond }) {
        const each = (perSecond * seconds) / rounds;
        // The warm-up of operations with a hash used all cores, but a counted round uses one.
        return hashedOperations.has(name)
          ? { count: Math.ceil(each / cores), atOnce: 1 }
          : { count: Math.ceil(each), atOnce: defaultAtOnce };
      },
      onOperation: (done) => log(costText(done, colds)),
    });
    const place = ({ operation }: MedianCost) => operationNames.indexOf(operation);
    const costs = costMedians(measured).toSorted((a, b) => place(a) - place(b));
    const rateOf = async ({ operation, candidate: name, perSecond }: MedianCost) => {
      const candidate = candidates.find((each) => each.name === name);
      if (candidate === undefined || !hashedOperations.has(operation)) return perSecond;
      const load = { count: Math.ceil((perSecond * cores * seconds) / 2), atOnce: 2 * cores };
      return (await createRounds(operation, candidate, servers, 1)(load)).perSecond;
    };
    const rated: MedianCost[] = [];
    for (const cost of costs) rated.push({ ...cost, perSecond: await rateOf(cost) });
    return { costs: rated, colds, warmUps, repeated, bareHashMs: medianHashMs(measured), betterAuth };
  } finally {
    for (const candidate of candidates) await candidate.end();
  }
}
