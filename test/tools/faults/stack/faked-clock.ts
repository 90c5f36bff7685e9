import { access, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  cacheDirOf,
  findAptObstacle,
  installPackages,
  type ProvideOptions,
  type ProvisionStep,
  runSteps,
} from '@auth-account/local-stack/provision';

/** A clock of some processes, which can be changed while they run. */
export interface FakedClock {
  /** Environment variables for these processes. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the processes' clock `seconds` ahead of the machine's (behind if negative), within about a second. */
  move(seconds: number): Promise<void>;
}

/**
 * Creates a clock with libfaketime, which reads its offset from `file`. Returns undefined if the library is
 * unavailable.
 */
export async function createFakedClock(file: string, options: ProvideFaketimeOptions): Promise<FakedClock | undefined> {
  const library = await provideFaketimeLibrary(options).catch((error: Error) => {
    options.log(error.message);
  });
  if (library === undefined) return undefined;
  const move = (seconds: number) => writeFile(file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  await move(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      // Timers use the monotonic clock, which jumps do not change.
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    move,
  };
}

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

interface ProvideFaketimeOptions extends ProvideOptions {
  /** True if the library may be installed when it is missing. */
  readonly mayInstall: boolean;
}

/** Returns the path of libfaketime, which must be preloaded into the processes. Throws `ProvisionError`. */
async function provideFaketimeLibrary(options: ProvideFaketimeOptions): Promise<string> {
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
