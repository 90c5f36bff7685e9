import type { AuthStorage } from '@auth-account/client';

/** A storage that can be locked, fail to write, and be wiped. */
export interface MemoryStorage extends AuthStorage {
  readonly content: Map<string, string>;
  /** While true, every read fails, as on a phone before its first unlock. */
  isLocked: boolean;
  /** While true, every write fails. */
  isReadOnly: boolean;
}

export function createMemoryStorage(): MemoryStorage {
  const content = new Map<string, string>();
  const storage: MemoryStorage = {
    content,
    isLocked: false,
    isReadOnly: false,
    async get(key) {
      if (storage.isLocked) throw new Error('the storage is locked');
      return content.get(key);
    },
    async set(key, value) {
      if (storage.isLocked || storage.isReadOnly) throw new Error('the storage can not be written');
      content.set(key, value);
    },
    async remove(key) {
      if (storage.isLocked || storage.isReadOnly) throw new Error('the storage can not be written');
      content.delete(key);
    },
  };
  return storage;
}
