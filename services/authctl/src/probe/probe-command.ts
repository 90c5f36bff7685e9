import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { parseSpan } from '../cli/parse-moment.ts';
import type { Shell } from '../cli/shell.ts';
import { createProbe } from './create-probe.ts';
import { describeProbe } from './describe-probe.ts';
import { probeConfig } from './probe-config.ts';
import { planProbe } from './probe-plan.ts';
import { runProbeService } from './run-probe-service.ts';
import { withStopSignal } from './with-stop-signal.ts';

const parseUrl =
  (...schemes: string[]) =>
  (text: string) => {
    if (schemes.some((scheme) => text.startsWith(scheme)) && URL.canParse(text)) return text;
    throw new InvalidArgumentError(`It must be a URL that begins with ${schemes.join(' or ')}.`);
  };

function parseInterval(text: string): number {
  const ms = parseSpan(/^\d+$/.test(text) ? `${text}s` : text);
  if (ms === 0) throw new InvalidArgumentError('It must be a second at least.');
  return ms;
}

/** `probe` */
export function addProbeCommand(program: Command, shell: Shell): void {
  program
    .command('probe')
    .description('walk the main path of a deployed system, from registration to closed stream, and clean up')
    .addOption(
      new Option('--api-url <url>', 'where apps reach the api; else PROBE_API_URL').argParser(
        parseUrl('https://', 'http://'),
      ),
    )
    .addOption(
      new Option('--push-url <url>', "the push gateway; else PROBE_PUSH_URL, else the login's answer says").argParser(
        parseUrl('wss://', 'ws://'),
      ),
    )
    .option('--email <address>', 'log in to this account, with PROBE_PASSWORD, and register none')
    .addOption(
      new Option('--timeout <span>', 'how long each step may take').argParser(parseSpan).default(10_000, '10s'),
    )
    .addOption(
      new Option('--event-wait <span>', "how long the account's removal waits for its event to be delivered")
        .argParser(parseSpan)
        .default(10_000, '10s'),
    )
    .addOption(
      new Option('--interval <span>', 'again and again until stopped, with metrics; seconds, or such as 2m').argParser(
        parseInterval,
      ),
    )
    .action(async ({ interval, ...options }) => {
      const plan = planProbe(options, shell.config(probeConfig, { isNamed: options.apiUrl !== undefined }));
      const probe = createProbe(shell, plan);
      if (interval !== undefined) {
        const { canCleanUp } = plan;
        return await runProbeService({ probe, canCleanUp, intervalMs: interval, now: shell.now });
      }
      await shell.conclude(withStopSignal(probe).then(describeProbe));
    });
}
