import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** Named in the error. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly intervalMs?: number;
}

/**
 * Asks again and again until `check` returns true. Throws when `timeoutMs` have passed, and whatever `check` throws. The
 * last question comes after that time: a machine that stood still meanwhile is no reason to give up.
 */
export async function waitUntil(check: () => Promise<boolean>, options: WaitOptions): Promise<void> {
  const deadline = performance.now() + options.timeoutMs;
  for (;;) {
    const isLast = performance.now() > deadline;
    if (await check()) return;
    if (isLast) throw new Error(`${options.what}: not so within ${options.timeoutMs / 1000} s`);
    await sleep(options.intervalMs ?? 50);
  }
}
