import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** Name of the condition in the error. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly intervalMs?: number;
}

/**
 * Calls `check` repeatedly until it returns true. Throws after `timeoutMs`, and also throws the errors of `check`.
 * Before it gives up, it calls `check` once more after that time, because the machine may have stalled.
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
