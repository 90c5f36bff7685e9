/**
 * Returns a function that runs the work at most once in that time, for all its callers: those who call while it runs, or
 * soon after its begin, get the same result. A failure is not kept.
 */
export function shareWork<T>(work: () => Promise<T>, milliseconds: number): () => Promise<T> {
  let shared: { readonly result: Promise<T>; readonly begun: number } | undefined;
  let isRunning = false;

  function begin(): Promise<T> {
    isRunning = true;
    const result = work().finally(() => {
      isRunning = false;
    });
    const kept = { result, begun: performance.now() };
    shared = kept;
    result.catch(() => {
      if (shared === kept) shared = undefined;
    });
    return result;
  }

  return () => {
    const isFresh = shared !== undefined && (isRunning || performance.now() - shared.begun < milliseconds);
    return isFresh && shared !== undefined ? shared.result : begin();
  };
}
