import { type Trace, traceRequest } from '@auth-account/operations/trace';
import { type Command, Option } from '@commander-js/extra-typings';
import { exitCodes } from '../../cli/command-error.ts';
import { parseMoment } from '../../cli/parse-arguments.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { table } from '../../cli/table.ts';
import { withMongo, withRedis } from '../../compose.ts';

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
    .action((requestId, options) => shell.conclude(trace(shell, requestId, options.since)));
}

/** Prints what was stored. If Redis is unreachable, the output names the missing part. */
async function trace(shell: Shell, requestId: string, since: Date): Promise<Outcome> {
  const found = await withMongo(shell, (mongo) =>
    traceRequest({ ...mongo, useRedis: (work) => withRedis(shell, work) }, { requestId, since }),
  );
  const exitCode = found.gaps.length > 0 ? exitCodes.unavailable : exitCodes.ok;
  return { json: found, text: toTimeline(found), exitCode };
}

function toTimeline({ request_id, steps, gaps }: Trace): string {
  const rows = steps.map(({ at, after_ms, what, ...facts }) => [at, `+${after_ms} ms`, what, describe(facts)]);
  const notes = gaps.map((gap) => `Not known: ${gap}`);
  return [`Request ${request_id}`, table(['at', 'after', 'what', 'facts'], rows), ...notes].join('\n');
}

function describe(facts: Readonly<Record<string, unknown>>): string {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return known.map(([name, value]) => `${name}=${value}`).join(' ');
}
