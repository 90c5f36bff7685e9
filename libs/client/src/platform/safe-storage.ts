import type { AuthStorage, Log, Platform, Timers } from './platform.ts';

/**
 * Does work of the app or the platform, which may throw at once, or never settle. Rejects if it has not settled after
 * `ms` milliseconds; its later result is dropped.
 */
export function within<T>(timers: Timers, ms: number, work: () => T | PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = timers.after(ms, () => reject(new Error('no answer in time')));
    Promise.resolve().then(work).then(resolve, reject).finally(cancel);
  });
}

/** Entries of the storage besides the session's. */
export const entryNames = ['device', 'device-secret', 'login', 'registration', 'trusted'] as const;

/** Returns the key of an entry. */
export const entryOf = (prefix: string, name: (typeof entryNames)[number]): string => `${prefix}.${name}`;

/** The app's storage, whose calls settle in time. */
export interface SafeStorage extends AuthStorage {
  /** Resolves to undefined if there is no value, and to null if it is lost for good. */
  get(key: string): Promise<string | null | undefined>;
  /** From now on the entry counts as empty, without being read, until a write or a removal of it succeeds. */
  forget(key: string): void;
}

/**
 * Creates a storage that waits `storageTimeoutMs` for each call. A write that lands after it was given up, and would undo a
 * later one, is followed by the later one again.
 */
export function createSafeStorage(
  { storage, timers, storageTimeoutMs }: Pick<Platform, 'storage' | 'timers' | 'storageTimeoutMs'>,
  log: Log,
): SafeStorage {
  const forgotten = new Set<string>();
  const newest = new Map<string, () => Promise<void>>();

  async function write(key: string, act: () => Promise<void>): Promise<void> {
    newest.set(key, act);
    let isGivenUp = false;
    const run = async () => {
      await act();
      const last = newest.get(key);
      if (last === act) forgotten.delete(key);
      else if (isGivenUp && last) await write(key, last);
    };
    try {
      await within(timers, storageTimeoutMs, run);
    } catch (error) {
      isGivenUp = true;
      throw error;
    }
  }

  return {
    forget: (key) => forgotten.add(key),
    set: (key, value) => write(key, () => storage.set(key, value)),
    remove: (key) => write(key, () => storage.remove(key)),
    async get(key) {
      if (forgotten.has(key)) return;
      try {
        return (await within(timers, storageTimeoutMs, () => storage.get(key))) ?? undefined;
      } catch (error) {
        if (!(error as { readonly isLost?: unknown } | undefined)?.isLost) throw error;
        log({ event: 'storage_lost' });
        return null;
      }
    },
  };
}

/**
 * Empties an entry in one of two ways, because a storage that refuses one may accept the other. Returns false if it
 * refuses both.
 */
export async function emptyEntry(storage: AuthStorage, key: string, log: Log): Promise<boolean> {
  try {
    await storage.remove(key).catch(() => storage.set(key, ''));
    return true;
  } catch {
    log({ event: 'storage_failed' });
    return false;
  }
}
