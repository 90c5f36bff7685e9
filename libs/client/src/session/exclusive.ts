import type { Platform } from '../platform/platform.ts';

/**
 * Longest wait for another tab, in milliseconds: longer than a refresh and its repetition, 20 s each. After it the tab is
 * frozen, and the work is done all the same: the service converges.
 */
const maxWaitMs = 45_000;

/** Runs works of the same name one after the other, in this tab and in the others of the page. */
export type Exclusive = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** Nothing of the app's is ever awaited inside such a work, so that no listener can block it. */
export function createExclusive({ locks, timers }: Pick<Platform, 'locks' | 'timers'>, prefix: string): Exclusive {
  const tails = new Map<string, Promise<unknown>>();

  async function amongTabs<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (!locks) return work();
    const wait = new AbortController();
    const cancel = timers.after(maxWaitMs, () => wait.abort());
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      cancel();
      return work();
    };
    try {
      return await locks.request(`${prefix}.${name}`, { signal: wait.signal }, begin);
    } catch (error) {
      if (hasBegun) throw error;
      return work();
    } finally {
      cancel();
    }
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
