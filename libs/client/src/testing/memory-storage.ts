import type { AuthStorage } from '../platform/platform.ts';

/** A storage in memory. Give it to the next client as well, and the app has been started again. */
export function memoryStorage(): AuthStorage {
  const content = new Map<string, string>();
  return {
    get: async (key) => content.get(key),
    set: async (key, value) => void content.set(key, value),
    remove: async (key) => void content.delete(key),
  };
}
