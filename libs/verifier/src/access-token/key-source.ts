import type { KeySet } from './key-set.ts';

/** Keys that may change while the process runs. */
export interface KeySource {
  /** Returns the present set: the same object for as long as it has not changed. */
  current(): KeySet;
  /** Looks for a newer set. It never fails, and may do nothing if it looked a moment ago. */
  reread(): Promise<void>;
}

/** Returns the keys as a source; a plain set of keys is a source that never changes. */
export function toKeySource(keys: KeySet | KeySource): KeySource {
  return 'current' in keys ? keys : { current: () => keys, reread: async () => undefined };
}

/** Prepares a value from a key set, once per set: again only after the source's set has changed. */
export function oncePerSet<T>(prepare: (set: KeySet) => T): (set: KeySet) => T {
  let last: { readonly set: KeySet; readonly value: T } | undefined;
  return (set) => {
    if (last?.set !== set) last = { set, value: prepare(set) };
    return last.value;
  };
}
