import { useSyncExternalStore } from 'react';

/** A value that components can read and follow. */
export interface Store<T> {
  read(): T;
  change(next: (now: T) => T): void;
  subscribe(onChange: () => void): () => void;
}

export function createStore<T>(first: T): Store<T> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    read: () => value,
    change(next) {
      value = next(value);
      for (const listener of listeners) listener();
    },
    subscribe(onChange) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
  };
}

export function useStore<T>({ subscribe, read }: Pick<Store<T>, 'subscribe' | 'read'>): T {
  return useSyncExternalStore(subscribe, read);
}
