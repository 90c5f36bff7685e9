import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { bareHashMs } from './bare-hash.ts';
import type { Candidate } from './candidate.ts';
import { type CandidatePool, createCandidatePool } from './candidate-pool.ts';
import { type Load, measureRound, type OperationCost, type Round } from './measure-operation.ts';
import type { OperationName } from './operations.ts';
import { quietestRounds, roundsToRepeat } from './quiet-rounds.ts';
import { type WarmUp, type WarmUpLoad, warmUp } from './warm-up.ts';

/** One round of an operation at a candidate. */
export interface Measured {
  readonly operation: OperationName;
  readonly candidate: string;
  readonly cost: Round;
  /** CPU milliseconds of one bare hash, right after the round. */
  readonly bareHashMs: number;
}

/** The rounds that count, and how the candidates were warmed up. */
export interface SideBySide {
  readonly measured: readonly Measured[];
  readonly warmUps: readonly WarmUp[];
  /** Number of rounds that were repeated because other processes disturbed them. */
  readonly repeated: number;
}

export interface SideBySideOptions {
  readonly names: readonly OperationName[];
  /** Number of counted rounds for each operation at each candidate, after its warm-up. */
  readonly rounds: number;
  /** Returns the size of a warm-up round, and the largest number of such rounds. */
  readonly warmUp: (name: OperationName) => WarmUpLoad;
  /** Returns the number of operations in a counted round, from the result of the warm-up. */
  readonly load: (name: OperationName, warm: OperationCost) => Load;
  /** Called after the rounds of each operation. */
  readonly onOperation: (done: SideBySide) => void;
}

const hashesAtOnce = 5;
/** Number of rounds for which data are created together. */
export const preparedRounds = 7;

/**
 * Measures each operation at all candidates that offer it, in turns, so that other work of the machine affects all of
 * them alike. Rounds that other processes disturb are repeated, up to half as many as are wanted. The quietest rounds
 * count.
 */
export async function measureSideBySide(
  candidates: readonly Candidate[],
  servers: TestServers,
  options: SideBySideOptions,
): Promise<SideBySide> {
  let all: SideBySide = { measured: [], warmUps: [], repeated: 0 };
  for (const operation of options.names) {
    const offering = candidates.filter(({ offers }) => offers.includes(operation));
    const done = await measureInTurns(operation, offering, servers, options);
    options.onOperation(done);
    all = {
      measured: [...all.measured, ...done.measured],
      warmUps: [...all.warmUps, ...done.warmUps],
      repeated: all.repeated + done.repeated,
    };
  }
  return all;
}

/** A candidate that is warm for the operation. */
interface Lane {
  readonly candidate: Candidate;
  readonly load: Load;
  readonly candidatePool: CandidatePool;
  readonly rounds: LaneRound[];
}

interface LaneRound extends Round {
  readonly bareHashMs: number;
}

async function measureInTurns(
  operation: OperationName,
  candidates: readonly Candidate[],
  servers: TestServers,
  { rounds, warmUp: warmUpOf, load }: SideBySideOptions,
): Promise<SideBySide> {
  const [warmUps, lanes]: [WarmUp[], Lane[]] = [[], []];
  for (const candidate of candidates) {
    const { done, last } = await warmUp(operation, candidate, servers, warmUpOf(operation));
    warmUps.push(done);
    const candidatePool = createCandidatePool(candidate, operation, preparedRounds);
    lanes.push({ candidate, load: load(operation, last), candidatePool, rounds: [] });
  }
  const turn = async (taking: readonly Lane[]) => {
    const done = new Map<Lane, Round>();
    for (const lane of taking) {
      const run = await lane.candidatePool(lane.load.count);
      done.set(lane, await measureRound(run, lane.candidate, servers, lane.load));
    }
    const hashMs = bareHashMs(hashesAtOnce);
    for (const [{ rounds: of }, round] of done) of.push({ ...round, bareHashMs: hashMs });
  };
  for (let round = 0; round < rounds; round += 1) await turn(lanes);
  for (;;) {
    const disturbed = lanes.filter((lane) => roundsToRepeat(lane.rounds, rounds) > 0);
    if (disturbed.length === 0) break;
    await turn(disturbed);
  }
  return {
    measured: lanes.flatMap((lane) =>
      quietestRounds(lane.rounds, rounds).map(({ bareHashMs: hashMs, ...cost }) => ({
        ...{ operation, candidate: lane.candidate.name },
        ...{ cost, bareHashMs: hashMs },
      })),
    ),
    warmUps,
    repeated: lanes.reduce((sum, lane) => sum + lane.rounds.length - rounds, 0),
  };
}
