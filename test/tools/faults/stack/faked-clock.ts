import { writeFile } from 'node:fs/promises';
import { provideFaketimeLibrary } from '@auth-account/local-stack';

/** The clock of some processes, which can be moved while they run. */
export interface FakedClock {
  /** To be added to the environment of these processes. */
  readonly env: Readonly<Record<string, string>>;
  /** From a second later on the processes' clock is so many seconds ahead (behind, where negative) of the machine's. */
  move(seconds: number): Promise<void>;
}

type ClockOptions = Parameters<typeof provideFaketimeLibrary>[0];

/** A clock by libfaketime that reads its offset from `file`. Undefined where the library cannot be provided. */
export async function createFakedClock(file: string, options: ClockOptions): Promise<FakedClock | undefined> {
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
      // Timers go by the monotonic clock, which no jump moves.
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    move,
  };
}
