import { checkMail, checkProviders, type Examined, examine, isOfVariable } from '@auth-account/operations/doctor';
import type { Command } from '@commander-js/extra-typings';
import { type ExitCode, exitCodes } from '../../cli/command-error.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { table } from '../../cli/table.ts';
import { withMongo, withRedis } from '../../compose.ts';
import { keyConfig, providerSettings, subscriberConfig } from '../../config.ts';
import { checkKeys } from './check-keys.ts';

/** Adds the command `doctor`. */
export function addDoctorCommand(program: Command, shell: Shell): void {
  program
    .command('doctor')
    .description(
      'check MongoDB, Redis, clocks, running processes, key files, mail servers and identity providers, and say how to fix problems',
    )
    .action(() => shell.conclude(runDoctor(shell)));
}

async function runDoctor(shell: Shell): Promise<Outcome> {
  const examined = await examine({
    useMongo: (work) => withMongo(shell, work),
    useRedis: (work) => withRedis(shell, work),
    others: [
      async () => checkKeys(shell.config(keyConfig)),
      async () => checkMail(shell.config(subscriberConfig)),
      async () => checkProviders(shell.config(providerSettings)),
    ],
  });
  return { json: examined, text: describe(examined), exitCode: exitCodeOf(examined) };
}

function describe({ checks }: Examined): string {
  const rows = checks.map(({ status, check, detail }) => [status, check, detail]);
  const fixes = checks.flatMap(({ check, fix }) => (fix === undefined ? [] : [`  ${check}: ${fix}`]));
  const advice = fixes.length === 0 ? [] : ['', 'To fix it:', ...fixes];
  return [table(['status', 'check', 'found'], rows), ...advice].join('\n');
}

/** The exit code is 78 if variables are missing or wrong, and 1 if another check failed. */
function exitCodeOf({ ok, checks }: Examined): ExitCode {
  if (checks.some(isOfVariable)) return exitCodes.configuration;
  return ok ? exitCodes.ok : exitCodes.negative;
}
