import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { exitCodes } from '../../cli/command-error.ts';
import { parseSpan } from '../../cli/parse-arguments.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { table } from '../../cli/table.ts';
import type { CleanUpReport } from '../../probe/clean-up.ts';
import { createProbe, type ProbeReport } from '../../probe/create-probe.ts';
import { probeConfig } from '../../probe/probe-config.ts';
import { planProbe } from '../../probe/probe-plan.ts';
import { runProbeService } from '../../probe/run-probe-service.ts';
import type { CloseTime } from '../../probe/walk-path.ts';

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

/** Adds the command `probe`. */
export function addProbeCommand(program: Command, shell: Shell): void {
  program
    .command('probe')
    .description('walk the main path of a deployed system, from registration to closed stream, and clean up')
    .addOption(
      new Option('--api-url <url>', 'base URL of the api; default: PROBE_API_URL').argParser(
        parseUrl('https://', 'http://'),
      ),
    )
    .addOption(
      new Option(
        '--push-url <url>',
        "base URL of the push gateway; default: PROBE_PUSH_URL, else from the login's answer",
      ).argParser(parseUrl('wss://', 'ws://')),
    )
    .option('--email <address>', 'log in to this account, with PROBE_PASSWORD, instead of registering one')
    .addOption(
      new Option('--timeout <span>', 'how long each step may take').argParser(parseSpan).default(10_000, '10s'),
    )
    .addOption(
      new Option(
        '--event-wait <span>',
        "how long to wait for the delivery of the account's event, before the account is removed",
      )
        .argParser(parseSpan)
        .default(10_000, '10s'),
    )
    .option('--with-mail', 'also reset the password and order the deletion, with codes from the mailbox')
    .addOption(
      new Option(
        '--mail-url <url>',
        "URL that lists the mails to the probe's email addresses as JSON; default: PROBE_MAIL_URL",
      ).argParser(parseUrl('https://', 'http://')),
    )
    .addOption(
      new Option('--mail-every <span>', 'with --interval: time between two runs with mails')
        .argParser(parseSpan)
        .default(900_000, '15m'),
    )
    .addOption(
      new Option('--mail-wait <span>', 'how long to wait for a mail').argParser(parseSpan).default(60_000, '60s'),
    )
    .addOption(
      new Option(
        '--interval <span>',
        'repeat the probe at this interval (2m, or a number of seconds) until it is stopped, and serve metrics',
      ).argParser(parseInterval),
    )
    .action(async ({ interval, ...options }) => {
      const plan = planProbe(options, shell.config(probeConfig, { isNamed: options.apiUrl !== undefined }));
      const probe = createProbe(shell, plan);
      if (interval !== undefined) {
        const { canCleanUp, apiUrl, pushUrl = apiUrl } = plan;
        return await runProbeService({
          probe,
          urls: [apiUrl, pushUrl],
          canCleanUp,
          intervalMs: interval,
          now: shell.now,
        });
      }
      await shell.conclude(withStopSignal(probe).then(describeProbe));
    });
}

const signals = ['SIGTERM', 'SIGINT'] as const;

/** Runs work that SIGTERM or Ctrl-C interrupts in an orderly way. A second signal ends the process. */
async function withStopSignal<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  const stop = () => {
    for (const signal of signals) process.off(signal, stop);
    stopping.abort();
  };
  for (const signal of signals) process.on(signal, stop);
  try {
    return await work(stopping.signal);
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
}

/** Formats the result of one run, for people and programs. The exit code is 1 if the path or the cleanup failed. */
function describeProbe(report: ProbeReport): Outcome {
  const { ok, steps, close, clean_up, request_id } = report;
  const rows = steps.map(({ step, ok: isOk, ms, fault }) => [step, isOk ? 'ok' : 'failed', ms, fault]);
  const times = close === null ? [] : [reportClose(close)];
  const headings = ['step', 'result', 'ms', 'fault'];
  const text = [table(headings, rows), '', ...times, reportCleanUp(clean_up), `Request id: ${request_id}`].join('\n');
  const isFine = ok && clean_up.outcome !== 'failed';
  return { json: report, text, exitCode: isFine ? exitCodes.ok : exitCodes.negative };
}

function reportClose({ since_request_ms, since_answer_ms }: CloseTime): string {
  const side = since_answer_ms < 0 ? 'before' : 'after';
  return `Logout to close: ${since_request_ms} ms, ${Math.abs(since_answer_ms)} ms ${side} the answer.`;
}

function reportCleanUp({ outcome, leftovers, fault }: CleanUpReport): string {
  const earlier = leftovers === 0 ? '' : ` Of runs before, removed: ${leftovers}.`;
  switch (outcome) {
    case 'done':
      return `Cleaned up.${earlier}`;
    case 'waiting':
      return `Cleaned up but for the event, which some subscriber does not have yet; a later run removes it.${earlier}`;
    case 'skipped':
      return 'Not cleaned up, as MONGODB_URI is not set: what the run has made stays in the database.';
    case 'failed':
      return `Not cleaned up: ${fault}`;
  }
}
