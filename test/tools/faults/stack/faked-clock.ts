import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Debian and its derivatives have their libraries below this directory, by architecture. */
const libraries = '/usr/lib';

/**
 * Creates a clock of some processes, which can be changed while they run, with libfaketime, which reads its offset from
 * `file`. Returns undefined if the library is unavailable (Debian, Ubuntu: apt-get install libfaketime).
 */
export async function createFakedClock(file: string) {
  const folders = existsSync(libraries) ? readdirSync(libraries) : [];
  const paths = ['.', ...folders].map((folder) => join(libraries, folder, 'faketime', 'libfaketime.so.1'));
  const library = paths.find((path) => existsSync(path));
  if (library === undefined) return;
  const move = (seconds: number) => writeFile(file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  await move(0);
  return {
    /** Environment variables for these processes. */
    env: {
      LD_PRELOAD: library,
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
