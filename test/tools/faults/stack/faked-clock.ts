import { writeFile } from 'node:fs/promises';
import { provideFaketimeLibrary } from '@auth-account/local-stack';

/** The clock of some processes, which can be changed while they run. */
export interface FakedClock {
  /** Variables for the environment of these processes. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Sets the processes' clock that many seconds ahead of the machine's (behind, if negative), within about a second.
   */
  move(seconds: number): Promise<void>;
}

type ClockOptions = Parameters<typeof provideFaketimeLibrary>[0];

/** Creates a clock by libfaketime, which reads its offset from `file`. Undefined if the library can't be provided. */
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
      // Timers use the monotonic clock, which no jump changes.
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    move,
  };
}
