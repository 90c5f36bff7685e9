import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** Condition that is waited for, as the error names it. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly intervalMs?: number;
}

/**
 * Calls `check` again and again until it returns true. Throws after `timeoutMs`, and whatever `check` throws. The last
 * call comes after that time, so that a machine that was stalled in the meantime is no reason to give up.
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
