import { ConfigError } from '@auth-account/config';
import { exitCodes } from '../cli/exit-codes.ts';
import type { Outcome } from '../cli/outcome.ts';
import type { Shell } from '../cli/shell.ts';
import { table } from '../cli/table.ts';
import { toFailure } from '../cli/to-failure.ts';
import { withMongo, withRedis } from '../compose.ts';
import { keyConfig } from '../config.ts';
import { checkKeys } from './check-keys.ts';
import { checkMongodb } from './check-mongodb.ts';
import { checkRedis } from './check-redis.ts';
import { type Finding, failed, ok } from './finding.ts';

/** Looks at everything that the services need. Exit code 1 where something failed; warnings do not count. */
export async function examine(shell: Shell): Promise<Outcome> {
  const keys = shell.config(keyConfig);
  const findings = [
    ...(await reach('mongodb', 'MONGODB_URI', () => withMongo(shell, checkMongodb))),
    ...(await reach('redis', 'REDIS_URL', () => withRedis(shell, checkRedis))),
    ...(await checkKeys(keys)),
  ];
  const hasFailed = findings.some(({ status }) => status === 'failed');
  const rows = findings.map(({ status, check, detail }) => [status, check, detail]);
  const mends = findings.flatMap(({ check, mend }) => (mend === undefined ? [] : [`${check}: ${mend}`]));
  const advice = mends.length === 0 ? [] : [`\nTo mend it:\n${mends.map((line) => `  ${line}`).join('\n')}`];
  return {
    json: { ok: !hasFailed, checks: findings },
    text: [table(['status', 'check', 'found'], rows), ...advice].join('\n'),
    exitCode: hasFailed ? exitCodes.negative : exitCodes.ok,
  };
}

/** A server that is away is one finding, and not the end of the examination. */
async function reach(server: string, variable: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return [ok(`${server} reachable`, 'yes'), ...(await look())];
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const mend = `See that ${server} runs and that ${variable} is right, with a user who may do what the services do.`;
    return [failed(`${server} reachable`, toFailure(error).message, mend)];
  }
}
