/**
 * Starts the work and waits for it for at most `limitMs`. After that the work goes on unobserved, because a promise
 * can't be stopped from outside.
 *
 * @throws Error "took longer than … ms" past the limit, or the work's own error
 */
export async function withTimeLimit<T>(limitMs: number, work: () => T | Promise<T>): Promise<T> {
  const { promise: expiry, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`took longer than ${limitMs} ms`)), limitMs);
  try {
    return await Promise.race([(async () => work())(), expiry]);
  } finally {
    clearTimeout(timer);
  }
}
