import type { Platform } from '../platform/platform.ts';

/**
 * Limit for the wait for another tab, in milliseconds. The limit is longer than a refresh and its repetition together,
 * which take up to 20 s each. A tab that takes longer must be frozen, so the waiting tab goes on without the lock. The
 * service tolerates this.
 */
const maxWaitMs = 45_000;

/** Runs pieces of work with the same name one after the other, in this tab and in the page's other tabs. */
export type Exclusive = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** Creates the lock. Work that holds it never waits for code of the app, so that no listener can block it. */
export function createExclusive({ locks, timers }: Pick<Platform, 'locks' | 'timers'>, prefix: string): Exclusive {
  const tails = new Map<string, Promise<unknown>>();

  async function amongTabs<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (!locks) return work();
    const wait = new AbortController();
    let done: Promise<T> | undefined;
    return new Promise<T>((resolve, reject) => {
      // The page's locks may refuse, or ignore the signal. The work then begins without a lock, but only once.
      const go = async () => {
        cancel();
        done ??= work();
        await done.then(resolve, reject);
      };
      const cancel = timers.after(maxWaitMs, () => {
        wait.abort();
        void go();
      });
      const ask = async () => locks.request(`${prefix}.${name}`, { signal: wait.signal }, go);
      ask().catch(go);
    });
  }

  return (name, work) => {
    const before = tails.get(name) ?? Promise.resolve();
    const run = before.then(() => amongTabs(name, work));
    tails.set(
      name,
      run.catch(() => undefined),
    );
    return run;
  };
}
