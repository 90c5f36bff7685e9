import { type ForceLogoutJobStatus, listForceLogouts } from '@auth-account/messaging';
import { type CloseRecord, findCloseRecords } from '@auth-account/messaging/close-records';
import { withQueue } from '../commands/forced-logouts.ts';
import type { RedisStore } from '../context.ts';
import type { TraceStep } from './trace-step.ts';

/** Limit for the forced logouts that are searched, per state. */
const commandsRead = 10_000;

/** Finds a request's steps in Redis: the forced logout that the request ordered, and the streams that it closed. */
export function findRedisSteps(store: RedisStore, requestId: string, since: Date): Promise<TraceStep[]> {
  return withQueue(store, async (queue) => {
    const states = ['waiting', 'running', 'done', 'failed'] as const;
    const [closes, ...jobs] = await Promise.all([
      findCloseRecords(store.redis, store.keys, { requestId, since: since.getTime() }),
      ...states.map((state) => listForceLogouts(queue, state, commandsRead)),
    ]);
    const commands = jobs.flat().filter(({ command }) => command?.request_id === requestId);
    return [...commands.flatMap(toCommandSteps), ...closes.map(toCloseStep)];
  });
}

function toCommandSteps({
  id,
  command,
  orderedAt,
  finishedAt,
  state,
  result,
  error,
  attempts,
}: ForceLogoutJobStatus): TraceStep[] {
  const ordered = {
    at: orderedAt,
    what: 'forced logout ordered',
    facts: { command_id: id, state, attempts, why: command?.reason },
  };
  if (finishedAt === undefined) return [ordered];
  const facts = { command_id: id, sessions: result?.sessions, error };
  return [ordered, { at: finishedAt, what: `forced logout ${state}`, facts }];
}

function toCloseStep({ at, sessionId, code, reason, latencyMs, gateway }: CloseRecord): TraceStep {
  const facts = { session_id: sessionId, code, reason, since_decision_ms: latencyMs, gateway };
  return { at: new Date(at), what: 'stream closed', facts };
}
