import type { TestServers } from '@auth-account/local-stack';
import { cpuMs } from '../push/process-usage.ts';
import type { Candidate } from './candidate.ts';
import type { OperationName } from './operations.ts';

/** CPU milliseconds for one operation, user and system, by process. */
export interface OperationCost {
  readonly server: number;
  readonly mongod: number;
  readonly redis: number;
  /** Operations answered per second of wall-clock time. */
  readonly perSecond: number;
}

export interface Load {
  readonly count: number;
  readonly atOnce: number;
}

/** Runs the operation that many times at the candidate, and returns the cost of one. */
export async function measureOperation(
  name: OperationName,
  candidate: Candidate,
  { mongo, redis }: TestServers,
  { count, atOnce }: Load,
): Promise<OperationCost> {
  const run = await candidate.prepare(name, count);
  const pids = { server: [candidate.pid], mongod: mongo.pids(), redis: [redis.pid() ?? 0] };
  const used = () => Object.values(pids).map((each) => each.reduce((sum, one) => sum + cpuMs(one), 0));
  const before = used();
  const begun = performance.now();
  let next = 0;
  const client = async () => {
    while (next < count) {
      next += 1;
      await run(next - 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  const perSecond = (count / (performance.now() - begun)) * 1_000;
  const [server = 0, mongod = 0, redisMs = 0] = used().map((ms, place) => (ms - (before[place] ?? 0)) / count);
  return { server, mongod, redis: redisMs, perSecond };
}
