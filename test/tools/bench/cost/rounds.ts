import { availableParallelism } from 'node:os';
import { median } from '../../../support/area-under-curve.ts';
import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { runAtOnce } from '../concurrent-load.ts';
import { otherUse, readCpuCounters } from '../machine/cpu-counters.ts';
import { countCpu, threadTimes } from '../machine/process-usage.ts';
import { type Candidate, hashedOperations, type OperationName, type OperationRun } from './operations.ts';

/** A round of operations, and what disturbed it. */
export type Round = Awaited<ReturnType<typeof measureRound>>;

export interface Load {
  readonly count: number;
  readonly atOnce: number;
}

const defaultAtOnce = 8;

/** Returns the load of a round. Operations with a hash are fewer, and run one after another, as the bare hash does. */
export function loadOf(name: OperationName, count: number): Load {
  return hashedOperations.has(name) ? { count: Math.ceil(count / 10), atOnce: 1 } : { count, atOnce: defaultAtOnce };
}

/** Returns loads that take so many seconds each. The warm-up of operations with a hash used all cores, a round uses one. */
export const loadLasting =
  (seconds: number) =>
  (name: OperationName, { perSecond }: Round): Load =>
    hashedOperations.has(name)
      ? { count: Math.ceil((perSecond * seconds) / availableParallelism()), atOnce: 1 }
      : { count: Math.ceil(perSecond * seconds), atOnce: defaultAtOnce };

/**
 * Runs the operation `load.count` times at the candidate, and returns the cost of one run: CPU milliseconds (user and
 * system) of each process.
 */
async function measureRound(run: OperationRun, { pid }: Candidate, { mongo, redis }: TestServers, load: Load) {
  const { count } = load;
  const cpu = [[pid], mongo.pids(), [redis.pid() ?? 0]].map(countCpu);
  const loopBefore = eventLoopMs(pid);
  const machine = readCpuCounters();
  const begun = performance.now();
  await runAtOnce(load, run);
  const perSecond = (count / (performance.now() - begun)) * 1_000;
  const [server = 0, mongod = 0, redisMs = 0] = cpu.map((usedMs) => usedMs() / count);
  const loop = (eventLoopMs(pid) - loopBefore) / count;
  const { others, stolen } = otherUse(machine, readCpuCounters());
  return {
    ...{ server, mongod, redis: redisMs },
    /** The part of the server's milliseconds in its event loop, which is all JavaScript without hashes. */
    loop,
    /** Operations answered per second of wall-clock time. */
    perSecond,
    /** Cores that other processes and the hypervisor took during the round. */
    others: others + stolen,
  };
}

/** Returns the CPU milliseconds so far of the server's first thread, which in Node runs the event loop. */
function eventLoopMs(pid: number): number {
  return threadTimes(pid).get(String(pid)) ?? 0;
}

/**
 * Returns a function that measures a round of the operation. It prepares the data of several rounds together, so that
 * little is written right before a round.
 */
export function createRounds(
  operation: OperationName,
  candidate: Candidate,
  servers: TestServers,
  together: number,
): (load: Load) => Promise<Round> {
  let made: { readonly run: OperationRun; readonly count: number; used: number } | undefined;
  return async (load) => {
    if (made === undefined || made.used + load.count > made.count) {
      const count = load.count * together;
      made = { run: await candidate.prepare(operation, count), count, used: 0 };
    }
    const { run, used } = made;
    made.used += load.count;
    return measureRound((index) => run(used + index), candidate, servers, load);
  };
}

/** Outcome of warming a server for an operation. */
export type WarmUp = Awaited<ReturnType<typeof warmUp>>['done'];

/**
 * Returns the rounds of a warm-up. V8 compiles in separate threads during many thousands of operations, so the cost
 * of the whole process must stop changing. If each operation needs a hash, only the event loop's cost must, because
 * hashes cost the same from the first on and would hide the rest. Rounds with hashes can therefore use all cores.
 */
export function warmUpLoad(name: OperationName) {
  return hashedOperations.has(name)
    ? ({ count: 60, atOnce: availableParallelism(), maxRounds: 30, looksAt: 'loop' } as const)
    : ({ count: 300, atOnce: defaultAtOnce, maxRounds: 75, looksAt: 'server' } as const);
}

/**
 * Has the server answer rounds of the operation until its CPU time for one operation is steady, or until there are too
 * many. Returns the number of operations until then, and the last round.
 */
export async function warmUp(operation: OperationName, candidate: Candidate, servers: TestServers) {
  const { maxRounds, looksAt, ...load } = warmUpLoad(operation);
  const nextRound = createRounds(operation, candidate, servers, comparedRounds);
  const costs: number[] = [];
  for (;;) {
    const round = await nextRound(load);
    costs.push(round[looksAt]);
    const isSteady = standsStill(costs);
    if (!isSteady && costs.length < maxRounds) continue;
    const operations = costs.length * load.count;
    return { done: { operation, candidate: candidate.name, operations, isSteady }, last: round };
  }
}

/** CPU milliseconds of server and MongoDB for each of the first operations of a process that has just started. */
export type ColdCost = Awaited<ReturnType<typeof measureCold>>[number];

/** Starts a new server for each operation, and measures the server's first runs of it. */
export async function measureCold(
  start: () => Promise<Candidate>,
  names: readonly OperationName[],
  servers: TestServers,
) {
  const costs: { readonly operation: OperationName; readonly candidate: string; readonly both: number }[] = [];
  for (const operation of names) {
    const candidate = await start();
    try {
      const load = hashedOperations.has(operation) ? { count: 30, atOnce: 1 } : { count: 150, atOnce: defaultAtOnce };
      const { server, mongod } = await createRounds(operation, candidate, servers, 1)(load);
      costs.push({ operation, candidate: candidate.name, both: server + mongod });
    } finally {
      await candidate.end();
    }
  }
  return costs;
}

/** Number of rounds that are compared with as many before them. */
export const comparedRounds = 8;
/** Largest relative difference of the medians at which the cost counts as steady. */
export const stillWithin = 0.03;

/**
 * Returns true if a cost has stopped changing, so that the median of the last rounds differs by less than 3 % from that
 * of the rounds before. Fewer rounds or a wider bound would not be enough. The event loop's part of a refresh falls by
 * a sixth between 3,000 and 20,000 operations, while every other round costs a sixth more.
 */
export function standsStill(rounds: readonly number[]): boolean {
  if (rounds.length < 2 * comparedRounds) return false;
  const last = median(rounds.slice(-comparedRounds));
  const before = median(rounds.slice(-2 * comparedRounds, -comparedRounds));
  return Math.abs(last - before) < stillWithin * before;
}

/** The most cores that other processes may take in a round that counts as quiet. */
export const maxOthers = 0.2;

type Disturbed = Pick<Round, 'others'>;

/** Returns how many rounds to repeat for `wanted` quiet ones. Repetitions stop at half of `wanted`. */
export function roundsToRepeat(rounds: readonly Disturbed[], wanted: number): number {
  const quiet = rounds.filter(({ others }) => others <= maxOthers).length;
  return Math.max(0, Math.min(wanted - quiet, Math.ceil(1.5 * wanted) - rounds.length));
}

/** Returns the `wanted` rounds in which other processes did least. */
export function quietestRounds<T extends Disturbed>(rounds: readonly T[], wanted: number): T[] {
  return rounds.toSorted((a, b) => a.others - b.others).slice(0, wanted);
}
