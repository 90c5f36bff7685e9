import { type Command, Option } from '@commander-js/extra-typings';
import { parseMoment } from '../cli/parse-moment.ts';
import type { Shell } from '../cli/shell.ts';
import { traceRequest } from './trace-request.ts';

/** `trace` */
export function addTraceCommand(program: Command, shell: Shell): void {
  const since = new Option('--since <when>', 'how far back to look, such as 2h or an ISO time')
    .argParser((text: string) => parseMoment(text, shell.now()))
    .default(parseMoment('7d', shell.now()), '7d');
  program
    .command('trace')
    .description(
      'all that is stored of one request: what it wrote, its event, deliveries, ended sessions, closed streams',
    )
    .argument('<request_id>', 'its X-Request-ID')
    .addOption(since)
    .action((requestId, options) => shell.conclude(traceRequest(shell, requestId, options.since)));
}
