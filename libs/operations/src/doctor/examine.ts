import { ConfigError, type ConfigProblem } from '@auth-account/config';
import type { Mongo, RedisStore, Use } from '../context.ts';
import { toOperationError } from '../operation-error.ts';
import { checkMongodb, fixOf } from './check-mongodb.ts';
import { checkProcesses } from './check-processes.ts';
import { checkRedis } from './check-redis.ts';
import { type Finding, failed, failedVariable, ok, warning } from './finding.ts';

export interface ExamineContext {
  readonly useMongo: Use<Mongo>;
  readonly useRedis: Use<RedisStore>;
  /** Checks for which the program reads its settings, such as `checkMail`. They come last, in this order. */
  readonly others: readonly (() => Promise<Finding[]>)[];
}

export interface Examined {
  /** True if no check failed. Warnings don't count. */
  readonly ok: boolean;
  readonly checks: readonly Finding[];
}

const reachable = ' reachable';

/**
 * Checks everything that the services need. A server that does not answer is a finding, and so is each setting for which
 * a check throws a `ConfigError`.
 */
export async function examine({ useMongo, useRedis, others }: ExamineContext): Promise<Examined> {
  const stores = [
    ...(await withVariables(() => reach('mongodb', 'MONGODB_URI', () => useMongo(checkMongodb)))),
    ...(await withVariables(() => reach('redis', 'REDIS_URL', () => useRedis(checkRedis)))),
  ];
  const areReached = stores.filter(({ check }) => check.endsWith(reachable)).every(({ status }) => status === 'ok');
  const checks = [...stores, ...(areReached ? await checkTogether(useMongo, useRedis) : [])];
  for (const look of others) checks.push(...(await withVariables(look)));
  return { ok: checks.every(({ status }) => status !== 'failed'), checks };
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
  return failedVariable(name, `${came}, expected ${expected}`, `Set it in ${where}, as for the services.`);
}

/** Checks the processes. Other checks report variables that are missing. */
async function checkTogether(useMongo: Use<Mongo>, useRedis: Use<RedisStore>): Promise<Finding[]> {
  try {
    return await useMongo((mongo) => useRedis((store) => checkProcesses({ ...mongo, ...store })));
  } catch (error) {
    if (error instanceof ConfigError) return [];
    return [warning('processes', `not checked: ${explain(error)}`, 'Fix what the checks of the stores report.')];
  }
}

/** Turns an unreachable server into one finding, so that the other checks go on. */
async function reach(server: string, variable: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return [ok(`${server}${reachable}`, 'yes'), ...(await look())];
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const fix = `See that ${server} runs and that ${variable} is right, with a user who may do what the services do.`;
    return [failed(`${server}${reachable}`, explain(error), fixOf(error) ?? fix)];
  }
}

function explain(error: unknown): string {
  return toOperationError(error)?.message ?? String(error);
}
