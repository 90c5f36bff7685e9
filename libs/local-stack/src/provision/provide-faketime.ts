import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirOf } from '../cache-dir.ts';
import { findAptObstacle, installPackages } from './install-packages.ts';
import type { ProvideOptions } from './provide-mongodb.ts';
import type { ProvisionStep } from './provision-step.ts';
import { runSteps } from './run-steps.ts';

/** Debian and its derivatives have their libraries below this directory, by architecture. */
const LIBRARIES = '/usr/lib';

const foundStep: ProvisionStep = {
  title: 'libfaketime on this machine',
  async run() {
    const binary = await findLibrary();
    return binary === undefined ? { missing: '' } : { binary };
  },
};

const aptStep: ProvisionStep = {
  title: 'apt-get install libfaketime',
  async run(context) {
    const obstacle = await findAptObstacle(context.env);
    if (obstacle !== undefined) return { missing: obstacle };
    await installPackages(['libfaketime'], context);
    return foundStep.run(context);
  },
};

async function findLibrary(): Promise<string | undefined> {
  const directories = await readdir(LIBRARIES).catch(() => []);
  for (const directory of ['', ...directories.filter((name) => name.endsWith('-linux-gnu'))]) {
    const path = join(LIBRARIES, directory, 'faketime', 'libfaketime.so.1');
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

export interface ProvideFaketimeOptions extends ProvideOptions {
  /** True if it may be installed when it is missing. */
  readonly mayInstall: boolean;
}

/** Returns the path of libfaketime, to be preloaded into a process whose clock is to jump. Throws `ProvisionError`. */
export async function provideFaketimeLibrary(options: ProvideFaketimeOptions): Promise<string> {
  const { log, env = process.env, signal, mayInstall } = options;
  const advice = 'Install libfaketime (Debian, Ubuntu: apt-get install libfaketime).';
  const steps = mayInstall ? [foundStep, aptStep] : [foundStep];
  const provided = await runSteps({ name: 'libfaketime', advice }, steps, {
    log,
    env,
    signal,
    cacheDir: cacheDirOf(env),
  });
  if (!('binary' in provided)) throw new Error('Both steps return a path.');
  return provided.binary;
}
