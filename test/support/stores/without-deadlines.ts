/**
 * Runs the work while the clock of the deadlines of requests and transactions, `performance.now()`, stands still in
 * this process. So a machine that stalls makes no request give up.
 */
export async function withoutDeadlines<T>(work: () => Promise<T>): Promise<T> {
  const { now } = performance;
  const at = performance.now();
  performance.now = () => at;
  try {
    return await work();
  } finally {
    performance.now = now;
  }
}
