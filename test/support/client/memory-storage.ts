import type { AuthStorage } from '@auth-account/client';

/** A storage that can be locked, hang, fail to write, be wiped, and lose the key of what it holds. */
export interface MemoryStorage extends AuthStorage {
  readonly content: Map<string, string>;
  /** While true, every read fails, as on a phone before its first unlock. */
  isLocked: boolean;
  /** While true, every write fails. */
  isReadOnly: boolean;
  /** While true, no call settles. `release` ends them all. */
  hangs: boolean;
  /** Number of calls that hang. */
  held(): number;
  release(): void;
  /**
   * Makes the entries whose key contains `part` unreadable for good, as a restored backup does. With `isLost` the errors
   * say so.
   */
  damage(part: string, isLost: boolean): void;
}

export function createMemoryStorage(): MemoryStorage {
  const content = new Map<string, string>();
  const damaged = new Map<string, boolean>();
  let held: (() => void)[] = [];

  async function access<T>(isRefused: boolean, effect: () => T): Promise<T> {
    if (storage.hangs) await new Promise<void>((resolve) => held.push(resolve));
    if (storage.isLocked || isRefused) throw new Error('the storage is locked, or can not be written');
    return effect();
  }

  const storage: MemoryStorage = {
    content,
    isLocked: false,
    isReadOnly: false,
    hangs: false,
    held: () => held.length,
    release() {
      storage.hangs = false;
      for (const go of held) go();
      held = [];
    },
    damage(part, isLost) {
      for (const key of content.keys()) if (key.includes(part)) damaged.set(key, isLost);
    },
    get: (key) =>
      access(false, () => {
        if (damaged.has(key)) throw Object.assign(new Error('it can not be decrypted'), { isLost: damaged.get(key) });
        return content.get(key);
      }),
    set: (key, value) =>
      access(storage.isReadOnly, () => {
        damaged.delete(key);
        content.set(key, value);
      }),
    remove: (key) =>
      access(storage.isReadOnly, () => {
        damaged.delete(key);
        content.delete(key);
      }),
  };
  return storage;
}
