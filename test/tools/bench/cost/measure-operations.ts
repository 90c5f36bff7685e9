import { availableParallelism } from 'node:os';
import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { type Costs, costMedians, costText, type MedianCost, medianHashMs } from './cost-table.ts';
import { type Candidate, hashedOperations, type OperationName, operationNames } from './operations.ts';
import { bareHashMs } from './own-candidate.ts';
import {
  type ColdCost,
  createRounds,
  type Load,
  loadLasting,
  measureCold,
  quietestRounds,
  type Round,
  roundsToRepeat,
  type WarmUp,
  warmUp,
} from './rounds.ts';

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

/** One round of an operation at a candidate. */
export type Measured = Awaited<ReturnType<typeof measureSideBySide>>['measured'][number];

export interface SideBySideOptions {
  /** Number of counted rounds at each candidate, after its warm-up. */
  readonly rounds: number;
  /** Returns the number of operations in a counted round, from the result of the warm-up. */
  readonly load: (name: OperationName, warm: Round) => Load;
}

const hashesAtOnce = 5;
/** Number of rounds for which data are created together. */
export const preparedRounds = 7;

/**
 * Measures the operation at all candidates, in turns, so that other work of the machine affects all of them alike.
 * Rounds that other processes disturb are repeated, up to half as many as are wanted. The quietest rounds count.
 */
export async function measureSideBySide(
  operation: OperationName,
  candidates: readonly Candidate[],
  servers: TestServers,
  { rounds: wanted, load: loadOf }: SideBySideOptions,
) {
  const warmUps: WarmUp[] = [];
  const lanes: Lane[] = [];
  for (const candidate of candidates) {
    const { done, last } = await warmUp(operation, candidate, servers);
    warmUps.push(done);
    const nextRound = createRounds(operation, candidate, servers, preparedRounds);
    lanes.push({
      candidate: candidate.name,
      load: loadOf(operation, last),
      nextRound,
      rounds: [],
    });
  }
  // Each candidate is the first in turn, because the bare hashes before it have emptied the processor's caches.
  const turn = async (taking: readonly Lane[], first: number) => {
    const order = [...taking.slice(first % taking.length), ...taking.slice(0, first % taking.length)];
    const done: [Lane, Round][] = [];
    for (const lane of order) done.push([lane, await lane.nextRound(lane.load)]);
    const hashMs = bareHashMs(hashesAtOnce);
    for (const [{ rounds: all }, round] of done) all.push({ ...round, bareHashMs: hashMs });
  };
  for (let round = 0; round < wanted; round += 1) await turn(lanes, round);
  for (let round = wanted; ; round += 1) {
    const disturbed = lanes.filter(({ rounds }) => roundsToRepeat(rounds, wanted) > 0);
    if (disturbed.length === 0) break;
    await turn(disturbed, round);
  }
  return {
    measured: lanes.flatMap(({ candidate, rounds }) =>
      quietestRounds(rounds, wanted).map((round) => ({ operation, candidate, ...round })),
    ),
    /** The candidates' warm-ups. */
    warmUps,
    /** Number of rounds that were repeated because other processes disturbed them. */
    repeated: lanes.reduce((sum, { rounds }) => sum + rounds.length - wanted, 0),
  };
}

/** A candidate that is warm for the operation. */
interface Lane {
  readonly candidate: string;
  readonly load: Load;
  readonly nextRound: ReturnType<typeof createRounds>;
  /** Its rounds, each with the CPU milliseconds of one bare hash right after it. */
  readonly rounds: (Round & { readonly bareHashMs: number })[];
}
