import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** Named in the error. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly intervalMs?: number;
}

/**
 * Asks again and again until `check` answers true. Throws when `timeoutMs` have passed, and whatever `check` throws.
 */
export async function waitUntil(check: () => Promise<boolean>, options: WaitOptions): Promise<void> {
  const deadline = Date.now() + options.timeoutMs;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`${options.what}: not so within ${options.timeoutMs / 1000} s`);
    await sleep(options.intervalMs ?? 50);
  }
}
