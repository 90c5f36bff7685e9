const signals = ['SIGTERM', 'SIGINT'] as const;

/** Does work that SIGTERM and Ctrl-C cut short, so that it ends in order; past the first one they end the process. */
export async function withStopSignal<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  const stop = () => {
    for (const signal of signals) process.off(signal, stop);
    stopping.abort();
  };
  for (const signal of signals) process.on(signal, stop);
  try {
    return await work(stopping.signal);
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
}
