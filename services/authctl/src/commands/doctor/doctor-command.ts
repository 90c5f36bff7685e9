import { ConfigError, type ConfigProblem } from '@auth-account/config';
import type { Command } from '@commander-js/extra-typings';
import { type ExitCode, exitCodes } from '../../cli/command-error.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { table } from '../../cli/table.ts';
import { toFailure } from '../../cli/to-failure.ts';
import { withMongo, withRedis, withStores } from '../../compose.ts';
import { keyConfig, providerSettings, subscriberConfig } from '../../config.ts';
import { checkKeys } from './check-keys.ts';
import { checkMail } from './check-mail.ts';
import { checkMongodb, fixOf } from './check-mongodb.ts';
import { checkProcesses } from './check-processes.ts';
import { checkProviders } from './check-providers.ts';
import { checkRedis } from './check-redis.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

/** Adds the command `doctor`. */
export function addDoctorCommand(program: Command, shell: Shell): void {
  program
    .command('doctor')
    .description(
      'check MongoDB, Redis, clocks, running processes, key files, mail servers and identity providers, and say how to fix problems',
    )
    .action(() => shell.conclude(examine(shell)));
}

const variableCheck = 'variable ';
const reachable = ' reachable';

/**
 * Checks everything that the services need. The exit code is 78 if variables are missing or wrong, and 1 if another
 * check failed. Warnings don't count.
 */
async function examine(shell: Shell): Promise<Outcome> {
  const stores = [
    ...(await withVariables(() => reach('mongodb', 'MONGODB_URI', () => withMongo(shell, checkMongodb)))),
    ...(await withVariables(() => reach('redis', 'REDIS_URL', () => withRedis(shell, checkRedis)))),
  ];
  const areReached = stores.filter(({ check }) => check.endsWith(reachable)).every(({ status }) => status === 'ok');
  const findings = [
    ...stores,
    ...(areReached ? await withVariables(() => checkTogether(shell)) : []),
    ...(await withVariables(async () => checkKeys(shell.config(keyConfig)))),
    ...(await withVariables(async () => checkMail(shell.config(subscriberConfig)))),
    ...(await withVariables(async () => checkProviders(shell.config(providerSettings)))),
  ];
  const hasFailed = findings.some(({ status }) => status === 'failed');
  const rows = findings.map(({ status, check, detail }) => [status, check, detail]);
  const fixes = findings.flatMap(({ check, fix }) => (fix === undefined ? [] : [`${check}: ${fix}`]));
  const advice =
    fixes.length === 0
      ? []
      : [
          `
To fix it:
${fixes.map((line) => `  ${line}`).join('\n')}`,
        ];
  return {
    json: { ok: !hasFailed, checks: findings },
    text: [table(['status', 'check', 'found'], rows), ...advice].join('\n'),
    exitCode: exitCodeOf(findings),
  };
}

function exitCodeOf(findings: readonly Finding[]): ExitCode {
  if (findings.some(({ check }) => check.startsWith(variableCheck))) return exitCodes.configuration;
  return findings.some(({ status }) => status === 'failed') ? exitCodes.negative : exitCodes.ok;
}

/** Returns one finding for each variable that is missing or wrong, so that all are reported at once. */
async function withVariables(look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(toFinding);
  }
}

function toFinding({ name, expected, came, where }: ConfigProblem): Finding {
  return failed(`${variableCheck}${name}`, `${came}, expected ${expected}`, `Set it in ${where}, as for the services.`);
}

/** Checks the processes. Other checks report variables that are missing. */
async function checkTogether(shell: Shell): Promise<Finding[]> {
  try {
    return await withStores(shell, checkProcesses);
  } catch (error) {
    if (error instanceof ConfigError) return [];
    return [
      warning('processes', `not checked: ${toFailure(error).message}`, 'Fix what the checks of the stores report.'),
    ];
  }
}

/** Turns an unreachable server into one finding, so that the other checks go on. */
async function reach(server: string, variable: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return [ok(`${server}${reachable}`, 'yes'), ...(await look())];
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const fix = `See that ${server} runs and that ${variable} is right, with a user who may do what the services do.`;
    return [failed(`${server}${reachable}`, toFailure(error).message, fixOf(error) ?? fix)];
  }
}
