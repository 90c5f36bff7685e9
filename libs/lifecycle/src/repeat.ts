/**
 * Runs the work every `intervalMs` until the signal is aborted. It does not keep the process alive. The work must not
 * reject, and may overlap itself if it takes longer.
 */
export function repeat(work: () => Promise<unknown>, intervalMs: number, stop: AbortSignal): void {
  if (stop.aborted) return;
  const timer = setInterval(() => void work(), intervalMs);
  timer.unref();
  stop.addEventListener('abort', () => clearInterval(timer), { once: true });
}

/** Runs the work at once, and returns after that. Then repeats it until the signal is aborted. */
export async function runAndRepeat(work: () => Promise<unknown>, intervalMs: number, stop: AbortSignal): Promise<void> {
  await work();
  repeat(work, intervalMs, stop);
}
