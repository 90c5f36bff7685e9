import type { Mongo, RedisStore, Use } from '../context.ts';
import { OperationError } from '../operation-error.ts';
import { findEventSteps } from './event-steps.ts';
import { findRedisSteps } from './redis-steps.ts';
import { findSessionSteps } from './session-steps.ts';
import type { TraceStep } from './trace-step.ts';

export interface TraceContext extends Pick<Mongo, 'collections' | 'stores'> {
  readonly useRedis: Use<RedisStore>;
}

/** A step in the order of time, with the milliseconds since the first. It also has the facts. */
export type TimedStep = { readonly at: Date; readonly after_ms: number; readonly what: string } & TraceStep['facts'];

export interface Trace {
  readonly request_id: string;
  readonly steps: readonly TimedStep[];
  /** Parts that are not known, because Redis could not be reached. */
  readonly gaps: readonly string[];
}

/**
 * Returns everything that was stored about a request since that time, as a timeline. If Redis is unreachable, the trace
 * names the missing part. Throws an `OperationError` if nothing is stored: `unknown`, or `unavailable` if a part is
 * missing.
 */
export async function traceRequest(
  { useRedis, ...mongo }: TraceContext,
  { requestId, since }: { readonly requestId: string; readonly since: Date },
): Promise<Trace> {
  const [{ steps: closes, gaps }, ...stored] = await Promise.all([
    fromRedis(useRedis, requestId, since),
    findEventSteps(mongo, requestId),
    findSessionSteps(mongo.collections, requestId, since),
  ]);
  const steps = [...stored.flat(), ...closes].sort((a, b) => a.at.getTime() - b.at.getTime());
  const [first] = steps;
  if (first === undefined) throw nothing(requestId, since, gaps);
  const timed = steps.map(({ at, what, facts }) => {
    return { at, after_ms: at.getTime() - first.at.getTime(), what, ...facts } as TimedStep;
  });
  return { request_id: requestId, steps: timed, gaps };
}

function nothing(requestId: string, since: Date, gaps: readonly string[]): OperationError {
  const known = gaps.length > 0 ? ` Not known: ${gaps.join('; ')}` : '';
  const message = `Nothing is stored of request ${requestId} since ${since.toISOString()}.${known}`;
  return new OperationError(gaps.length > 0 ? 'unavailable' : 'unknown', message);
}

async function fromRedis(
  useRedis: Use<RedisStore>,
  requestId: string,
  since: Date,
): Promise<{ readonly steps: TraceStep[]; readonly gaps: string[] }> {
  try {
    return { steps: await useRedis((store) => findRedisSteps(store, requestId, since)), gaps: [] };
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    return { steps: [], gaps: [`forced logouts and closed streams (${error.message})`] };
  }
}
