import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import type { Candidate, OperationName } from './operations.ts';
import { bareHashMs } from './own-candidate.ts';
import { createRounds, type Load, quietestRounds, type Round, roundsToRepeat, type WarmUp, warmUp } from './rounds.ts';

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
  const turn = async (taking: readonly Lane[]) => {
    const done: Round[] = [];
    for (const { nextRound, load } of taking) done.push(await nextRound(load));
    const hashMs = bareHashMs(hashesAtOnce);
    for (const [index, round] of done.entries()) taking[index]?.rounds.push({ ...round, bareHashMs: hashMs });
  };
  for (let round = 0; round < wanted; round += 1) await turn(lanes);
  for (;;) {
    const disturbed = lanes.filter(({ rounds }) => roundsToRepeat(rounds, wanted) > 0);
    if (disturbed.length === 0) break;
    await turn(disturbed);
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
