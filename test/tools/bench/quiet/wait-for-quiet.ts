import { setTimeout as delay } from 'node:timers/promises';
import { otherUse, readCpuCounters } from './cpu-counters.ts';

export interface QuietWait {
  readonly waitedSeconds: number;
  readonly isQuiet: boolean;
}

/** The most cores that other processes may use while the machine counts as quiet. */
export const quietCores = 0.1;
const lookMs = 5_000;

/** Waits until other processes leave the machine alone for five seconds, or until `maxSeconds` are over. */
export async function waitForQuiet(maxSeconds: number, log: (line: string) => void): Promise<QuietWait> {
  const begun = performance.now();
  for (;;) {
    const before = readCpuCounters();
    await delay(lookMs);
    const { others, stolen } = otherUse(before, readCpuCounters());
    const seconds = (performance.now() - begun) / 1_000;
    const isQuiet = others + stolen <= quietCores;
    if (isQuiet || seconds >= maxSeconds) return { waitedSeconds: seconds, isQuiet };
    log(`waiting for quiet: others use ${(others + stolen).toFixed(2)} cores`);
  }
}
