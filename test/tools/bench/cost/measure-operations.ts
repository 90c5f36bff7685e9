import { availableParallelism } from 'node:os';
import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { type Costs, costMedians, costText, type MedianCost, medianHashMs } from './cost-table.ts';
import { type Measured, measureSideBySide } from './measure-side-by-side.ts';
import { type Candidate, hashedOperations, type OperationName, operationNames } from './operations.ts';
import { type ColdCost, createRounds, loadLasting, measureCold, type WarmUp } from './rounds.ts';

export interface OperationsOptions {
  /** The operations to measure, in this order. */
  readonly names: readonly OperationName[];
  /** Seconds of wall-clock time, for each operation at each server. */
  readonly seconds: number;
  /** False to leave out the first operations of new processes. */
  readonly hasCold: boolean;
  readonly log: (line: string) => void;
}

/** Many short rounds, because the machine's neighbours change its speed within seconds. */
export const rounds = 21;

/** Starts a candidate, to measure only its first operations if `isCold`. */
export type StartCandidate = (isCold: boolean) => Promise<Candidate>;

/**
 * Measures the candidates in turns. Operations with a hash run one after another, others eight at once. `perSecond` of
 * those with a hash is from a separate round with enough at once for all cores.
 */
export async function measureOperations(
  starts: readonly StartCandidate[],
  servers: TestServers,
  { names, seconds, hasCold, log }: OperationsOptions,
): Promise<Costs> {
  const colds: ColdCost[] = [];
  for (const start of hasCold ? starts : []) colds.push(...(await measureCold(() => start(true), names, servers)));
  const candidates: Candidate[] = [];
  const load = loadLasting(seconds / rounds);
  try {
    for (const start of starts) candidates.push(await start(false));
    const [all, costs, warmUps]: [Measured[], MedianCost[], WarmUp[]] = [[], [], []];
    let repeated = 0;
    for (const operation of names) {
      const done = await measureSideBySide(operation, candidates, servers, { rounds, load });
      all.push(...done.measured);
      warmUps.push(...done.warmUps);
      repeated += done.repeated;
      for (const cost of costMedians(done.measured)) {
        costs.push({ ...cost, perSecond: await rateOf(cost, candidates, servers) });
      }
      log(costText({ costs, colds, warmUps, repeated, bareHashMs: medianHashMs(all) }));
    }
    const place = ({ operation }: MedianCost) => operationNames.indexOf(operation);
    const inOrder = costs.toSorted((a, b) => place(a) - place(b));
    return { costs: inOrder, colds, warmUps, repeated, bareHashMs: medianHashMs(all) };
  } finally {
    for (const candidate of candidates) await candidate.end();
  }
}

/** Returns the operations per second that the candidate answers with all cores, in about four seconds. */
async function rateOf(
  { operation, candidate: name, perSecond }: MedianCost,
  candidates: readonly Candidate[],
  servers: TestServers,
): Promise<number> {
  const candidate = candidates.find((each) => each.name === name);
  if (candidate === undefined || !hashedOperations.has(operation)) return perSecond;
  const cores = availableParallelism();
  const load = { count: Math.ceil(4 * perSecond * cores), atOnce: 2 * cores };
  return (await createRounds(operation, candidate, servers, 1)(load)).perSecond;
}
