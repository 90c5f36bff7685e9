import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { runAtOnce } from '../concurrent-load.ts';
import { countCpu, threadTimes } from '../push/process-usage.ts';
import { otherUse, readCpuCounters } from '../quiet/cpu-counters.ts';
import type { Candidate } from './candidate.ts';
import type { OperationName, OperationRun } from './operations.ts';

/** CPU milliseconds (user and system) of each process for one operation. */
export interface OperationCost {
  readonly server: number;
  readonly mongod: number;
  readonly redis: number;
  /** Operations answered per second of wall-clock time. */
  readonly perSecond: number;
}

/** A round of operations, and what disturbed it. */
export interface Round extends OperationCost {
  /** The part of the server's CPU milliseconds in its event loop, which is all JavaScript without hashes. */
  readonly loop: number;
  /** Cores that other processes and the hypervisor took during the round. */
  readonly others: number;
}

export interface Load {
  readonly count: number;
  readonly atOnce: number;
}

/** Runs the operation `load.count` times at the candidate, and returns the cost of one run. */
export async function measureOperation(
  name: OperationName,
  candidate: Candidate,
  servers: TestServers,
  load: Load,
): Promise<Round> {
  return measureRound(await candidate.prepare(name, load.count), candidate, servers, load);
}

/** Does the same with data that were prepared before. */
export async function measureRound(
  run: OperationRun,
  { pid }: Candidate,
  { mongo, redis }: TestServers,
  load: Load,
): Promise<Round> {
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
  return { server, mongod, redis: redisMs, perSecond, loop, others: others + stolen };
}

/** Returns the CPU milliseconds so far of the server's first thread, which in Node runs the event loop. */
function eventLoopMs(pid: number): number {
  return threadTimes(pid).get(String(pid)) ?? 0;
}
