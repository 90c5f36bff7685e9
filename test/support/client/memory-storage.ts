export type MemoryStorage = ReturnType<typeof createMemoryStorage>;

/** Creates a storage that can be locked, hang, fail to write, be wiped, and lose the key of what it holds. */
export function createMemoryStorage() {
  const content = new Map<string, string>();
  const damaged = new Map<string, boolean>();
  let held: (() => void)[] = [];

  async function access<T>(isRefused: boolean, effect: () => T): Promise<T> {
    if (storage.hangs) await new Promise<void>((resolve) => held.push(resolve));
    if (storage.isLocked || isRefused) throw new Error('the storage is locked, or can not be written');
    return effect();
  }

  const storage = {
    content,
    /** While true, every read fails, as on a phone before its first unlock. */
    isLocked: false,
    /** While true, every write fails. */
    isReadOnly: false,
    /** While true, no call settles. `release` ends them all. */
    hangs: false,
    /** Number of calls that hang. */
    held: () => held.length,
    release() {
      storage.hangs = false;
      for (const go of held) go();
      held = [];
    },
    /**
     * Makes the entries whose key contains `part` unreadable for good, as a restored backup does. With `isLost` the errors
     * say so.
     */
    damage(part: string, isLost: boolean) {
      for (const key of content.keys()) if (key.includes(part)) damaged.set(key, isLost);
    },
    get: (key: string): Promise<string | undefined> =>
      access(false, () => {
        if (damaged.has(key)) throw Object.assign(new Error('it can not be decrypted'), { isLost: damaged.get(key) });
        return content.get(key);
      }),
    set: (key: string, value: string): Promise<void> =>
      access(storage.isReadOnly, () => {
        damaged.delete(key);
        content.set(key, value);
      }),
    remove: (key: string): Promise<void> =>
      access(storage.isReadOnly, () => {
        damaged.delete(key);
        content.delete(key);
      }),
  };
  return storage;
}
