import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirOf, createAptStep, type ProvisionStep, runSteps } from '@auth-account/local-stack/provision';

export interface FakedClockOptions {
  /** True if libfaketime may be installed when it is missing. */
  readonly mayInstall: boolean;
  readonly log: (line: string) => void;
}

/**
 * Creates a clock of some processes, which can be changed while they run, with libfaketime, which reads its offset from
 * `file`. Returns undefined if the library is unavailable.
 */
export async function createFakedClock(file: string, { mayInstall, log }: FakedClockOptions) {
  const part = { name: 'libfaketime', advice: 'Install libfaketime (Debian, Ubuntu: apt-get install libfaketime).' };
  const steps = mayInstall ? [foundStep, createAptStep('libfaketime', foundStep)] : [foundStep];
  const context = { log, env: process.env, signal: undefined, cacheDir: cacheDirOf(process.env) };
  const provided = await runSteps(part, steps, context).catch((error: Error) => log(error.message));
  if (provided === undefined || !('binary' in provided)) return;
  const move = (seconds: number) => writeFile(file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  await move(0);
  return {
    /** Environment variables for these processes. */
    env: {
      LD_PRELOAD: provided.binary,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      // Timers use the monotonic clock, which jumps do not change.
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    /** Sets the processes' clock `seconds` ahead of the machine's (behind if negative), within about a second. */
    move,
  };
}

/** Debian and its derivatives have their libraries below this directory, by architecture. */
const libraries = '/usr/lib';

const foundStep: ProvisionStep = {
  title: 'libfaketime on this machine',
  async run() {
    const architectures = existsSync(libraries) ? readdirSync(libraries) : [];
    const folders = ['', ...architectures.filter((name) => name.endsWith('-linux-gnu'))];
    const paths = folders.map((folder) => join(libraries, folder, 'faketime', 'libfaketime.so.1'));
    const binary = paths.find((path) => existsSync(path));
    return binary === undefined ? { missing: '' } : { binary };
  },
};
