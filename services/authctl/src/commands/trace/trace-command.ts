import { type Command, Option } from '@commander-js/extra-typings';
import { CommandError, exitCodes } from '../../cli/command-error.ts';
import { parseMoment } from '../../cli/parse-arguments.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { withMongo, withRedis } from '../../compose.ts';
import { findEventSteps } from './event-steps.ts';
import { findRedisSteps } from './redis-steps.ts';
import { findSessionSteps } from './session-steps.ts';
import { type TraceStep, toTimeline } from './timeline.ts';

/** Adds the command `trace`. */
export function addTraceCommand(program: Command, shell: Shell): void {
  const since = new Option('--since <when>', 'how far back to look, such as 2h or an ISO time')
    .argParser((text: string) => parseMoment(text, shell.now()))
    .default(parseMoment('7d', shell.now()), '7d');
  program
    .command('trace')
    .description(
      'show everything stored about one request: its writes, its event, deliveries, ended sessions, closed streams',
    )
    .argument('<request_id>', 'its X-Request-ID')
    .addOption(since)
    .action((requestId, options) => shell.conclude(traceRequest(shell, requestId, options.since)));
}

/**
 * Shows everything that was stored about a request since that time, as a timeline. If Redis is unreachable, the output
 * names the missing part and shows the rest. Throws a `CommandError` if nothing is stored.
 */
async function traceRequest(shell: Shell, requestId: string, since: Date): Promise<Outcome> {
  const [stored, closes] = await Promise.all([
    withMongo(shell, async (mongo) => {
      const found = [findEventSteps(mongo, requestId), findSessionSteps(mongo.collections, requestId, since)];
      return (await Promise.all(found)).flat();
    }),
    fromRedis(shell, requestId, since),
  ]);
  const steps = [...stored, ...closes.steps];
  if (steps.length === 0) throw nothing(requestId, since, closes.gaps);
  const exitCode = closes.gaps.length > 0 ? exitCodes.unavailable : exitCodes.ok;
  return { ...toTimeline(requestId, steps, closes.gaps), exitCode };
}

function nothing(requestId: string, since: Date, gaps: readonly string[]): CommandError {
  const known = gaps.length > 0 ? ` Not known: ${gaps.join('; ')}` : '';
  const message = `Nothing is stored of request ${requestId} since ${since.toISOString()}.${known}`;
  return new CommandError(message, { exitCode: gaps.length > 0 ? exitCodes.unavailable : exitCodes.negative });
}

async function fromRedis(
  shell: Shell,
  requestId: string,
  since: Date,
): Promise<{ readonly steps: TraceStep[]; readonly gaps: string[] }> {
  try {
    return { steps: await withRedis(shell, (store) => findRedisSteps(store, requestId, since)), gaps: [] };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { steps: [], gaps: [`forced logouts and closed streams (${error.message})`] };
  }
}
