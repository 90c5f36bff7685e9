import type { KeySet } from './key-set.ts';

/** Keys that may change while the process runs. */
export interface KeySource {
  /** Returns the present set. It is the same object as long as the set has not changed. */
  current(): KeySet;
  /** Looks for a newer set. It never fails, and may do nothing if it looked a moment ago. */
  reread(): Promise<void>;
}

/** Returns the keys as a source. A plain set of keys becomes a source that never changes. */
export function toKeySource(keys: KeySet | KeySource): KeySource {
  return 'current' in keys ? keys : { current: () => keys, reread: async () => undefined };
}

/** Creates a function that prepares a value from a key set. It prepares again only after the set has changed. */
export function oncePerSet<T>(prepare: (set: KeySet) => T): (set: KeySet) => T {
  let last: { readonly set: KeySet; readonly value: T } | undefined;
  return (set) => {
    if (last?.set !== set) last = { set, value: prepare(set) };
    return last.value;
  };
}
