import { LRUCache } from 'lru-cache';

/** A count, and the milliseconds until its window ends. */
export interface MemoryCount {
  readonly count: number;
  readonly endsInMs: number;
}

/** Counts in the memory of this process. */
export interface MemoryCounts {
  find(key: string): MemoryCount | undefined;
  /** Adds `weight` to the count of the key's window, which begins with the first call. */
  add(key: string, weight?: number): MemoryCount;
  delete(key: string): void;
}

/** Limit for the keys of one limit, some 200 bytes each. */
const defaultMax = 50_000;

/**
 * Creates counts for a process while Redis is away. Above `most` keys, the key that was unused for longest is
 * forgotten, so that a flood from ever new networks does not fill the memory of the process.
 */
export function createMemoryCounts(seconds: number, max = defaultMax): MemoryCounts {
  // The cache is created when it is first needed, because it allocates the memory of all its keys at once.
  let made: LRUCache<string, { count: number }> | undefined;
  const open = () => {
    made ??= new LRUCache({ max: max, ttl: seconds * 1_000 });
    return made;
  };
  const endOf = (key: string) => Math.max(1, open().getRemainingTTL(key));
  return {
    find(key) {
      const found = made?.get(key);
      return found && { count: found.count, endsInMs: endOf(key) };
    },
    add(key, weight = 1) {
      const counts = open();
      const found = counts.get(key) ?? { count: 0 };
      if (found.count === 0) counts.set(key, found);
      found.count += weight;
      return { count: found.count, endsInMs: endOf(key) };
    },
    delete(key) {
      made?.delete(key);
    },
  };
}
