import type { AuthStorage, Timers } from '@auth-account/client';

/** Parts of the platform that end with the app. */
export interface AppLife {
  readonly storage: AuthStorage;
  readonly timers: Timers;
  isOver(): boolean;
  end(): void;
  /** Passes the outcome on to the app, unless the app has ended before. */
  notify<T>(outcome: Promise<T>): Promise<T>;
}

/** A promise for the code of a killed app, which never settles. */
export const never = () => new Promise<never>(() => undefined);

/** Starts a run of an app on a storage that outlives it. */
export function beginLife(kept: AuthStorage): AppLife {
  const running = new Set<NodeJS.Timeout>();
  let isOver = false;
  const unlessOver = <T>(work: () => Promise<T>): Promise<T> => (isOver ? never() : work());
  return {
    isOver: () => isOver,
    end() {
      isOver = true;
      for (const timer of running) clearTimeout(timer);
    },
    notify: (outcome) =>
      outcome.then(
        (value) => unlessOver(async () => value),
        (error) => unlessOver(() => Promise.reject(error)),
      ),
    storage: {
      get: (key) => unlessOver(() => kept.get(key)),
      set: (key, value) => unlessOver(() => kept.set(key, value)),
      remove: (key) => unlessOver(() => kept.remove(key)),
    },
    timers: {
      after(ms, work) {
        if (isOver) return () => undefined;
        const timer = setTimeout(() => {
          running.delete(timer);
          work();
        }, ms);
        running.add(timer);
        return () => {
          running.delete(timer);
          clearTimeout(timer);
        };
      },
    },
  };
}
