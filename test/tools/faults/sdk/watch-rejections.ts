import type { History } from '../load/history.ts';

/** Reports each unhandled rejection as a violation. Returns the function that ends the watch. */
export function watchRejections(history: History): () => void {
  const onRejection = (error: unknown) => {
    const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
    history.violate('a rejection that nobody handles', { name, message, stack });
  };
  process.on('unhandledRejection', onRejection);
  return () => void process.off('unhandledRejection', onRejection);
}
