import { ProbeFailure } from './step-log.ts';

export interface Patience {
  readonly timeoutMs: number;
  /** After this signal, no new work begins. */
  readonly stop: AbortSignal;
  /** Milliseconds that running work may continue after the stop. */
  readonly graceMs: number;
}

/**
 * Waits for the work, and aborts its signal at the limit. Throws a `ProbeFailure` if it took too long or was stopped.
 */
export async function within<T>(
  { timeoutMs, stop, graceMs }: Patience,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (stop.aborted) throw new ProbeFailure('stopped');
  const ending = new AbortController();
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  const giveUp = (fault: string) => {
    reject(new ProbeFailure(fault));
    ending.abort();
  };
  const timers = [setTimeout(giveUp, timeoutMs, `nothing within ${timeoutMs / 1_000} s`)];
  const onStop = () => timers.push(setTimeout(giveUp, graceMs, 'stopped'));
  stop.addEventListener('abort', onStop, { once: true });
  try {
    return await Promise.race([work(ending.signal), givenUp]);
  } finally {
    stop.removeEventListener('abort', onStop);
    for (const timer of timers) clearTimeout(timer);
  }
}
