import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import type { Candidate, OperationName } from './operations.ts';
import { bareHashMs } from './own-candidate.ts';
import { createRounds, type Load, type NextRound, type Round, type WarmUp, warmUp } from './rounds.ts';
import { quietestRounds, roundsToRepeat } from './steady-state.ts';

/** One round of an operation at a candidate. */
export interface Measured extends Round {
  readonly operation: OperationName;
  readonly candidate: string;
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
  /** Returns the number of operations in a counted round, from the result of the warm-up. */
  readonly load: (name: OperationName, warm: Round) => Load;
  /** Called after the rounds of each operation. */
  readonly onOperation?: (done: SideBySide) => void;
}

const hashesAtOnce = 5;
/** Number of rounds for which data are created together. */
export const preparedRounds = 7;

/**
 * Measures each operation at all candidates, in turns, so that other work of the machine affects all of them alike.
 * Rounds that other processes disturb are repeated, up to half as many as are wanted. The quietest rounds count.
 */
export async function measureSideBySide(
  candidates: readonly Candidate[],
  servers: TestServers,
  options: SideBySideOptions,
): Promise<SideBySide> {
  const all: SideBySide[] = [];
  for (const operation of options.names) {
    const done = await measureInTurns(operation, candidates, servers, options);
    options.onOperation?.(done);
    all.push(done);
  }
  return {
    measured: all.flatMap(({ measured }) => measured),
    warmUps: all.flatMap(({ warmUps }) => warmUps),
    repeated: all.reduce((sum, { repeated }) => sum + repeated, 0),
  };
}

/** A candidate that is warm for the operation. */
interface Lane {
  readonly candidate: string;
  readonly load: Load;
  readonly nextRound: NextRound;
  readonly rounds: Measured[];
}

async function measureInTurns(
  operation: OperationName,
  candidates: readonly Candidate[],
  servers: TestServers,
  { rounds, load }: SideBySideOptions,
): Promise<SideBySide> {
  const [warmUps, lanes]: [WarmUp[], Lane[]] = [[], []];
  for (const candidate of candidates) {
    const { done, last } = await warmUp(operation, candidate, servers);
    warmUps.push(done);
    const nextRound = createRounds(operation, candidate, servers, preparedRounds);
    lanes.push({ candidate: candidate.name, load: load(operation, last), nextRound, rounds: [] });
  }
  const turn = async (taking: readonly Lane[]) => {
    const done = new Map<Lane, Round>();
    for (const lane of taking) done.set(lane, await lane.nextRound(lane.load));
    const hashMs = bareHashMs(hashesAtOnce);
    for (const [lane, round] of done) {
      lane.rounds.push({ operation, candidate: lane.candidate, ...round, bareHashMs: hashMs });
    }
  };
  for (let round = 0; round < rounds; round += 1) await turn(lanes);
  for (;;) {
    const disturbed = lanes.filter((lane) => roundsToRepeat(lane.rounds, rounds) > 0);
    if (disturbed.length === 0) break;
    await turn(disturbed);
  }
  return {
    measured: lanes.flatMap((lane) => quietestRounds(lane.rounds, rounds)),
    warmUps,
    repeated: lanes.reduce((sum, lane) => sum + lane.rounds.length - rounds, 0),
  };
}
