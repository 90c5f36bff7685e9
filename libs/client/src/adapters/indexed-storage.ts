import type { AuthStorage } from '../platform/platform.ts';

/** The part of IndexedDB that the storage uses. */
export interface Databases {
  open(name: string, version: number): Request<Database> & { onupgradeneeded: (() => void) | null };
}
interface Request<T> {
  readonly result: T;
  readonly error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}
interface Database {
  createObjectStore(name: string): unknown;
  transaction(name: string, mode: 'readonly' | 'readwrite', options: { readonly durability: 'strict' }): Transaction;
  close(): void;
  onclose: (() => void) | null;
  onversionchange: (() => void) | null;
}
interface Transaction {
  objectStore(name: string): ObjectStore;
  readonly error: unknown;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
}
interface ObjectStore {
  get(key: string): Request<string | undefined>;
  put(value: string, key: string): Request<unknown>;
  delete(key: string): Request<unknown>;
}

const values = 'values';

/**
 * Creates a storage in IndexedDB. `localStorage` is not suitable, because a tab may still read a value there that
 * another tab has overwritten. It would then bring back a session that was logged out.
 */
export function indexedStorage(databases: () => Databases, name: string): AuthStorage {
  let opened: Promise<Database> | undefined;

  async function open(): Promise<Database> {
    opened ??= openDatabase(databases(), name);
    try {
      const database = await opened;
      const forget = () => {
        opened = undefined;
      };
      database.onclose = forget;
      // Another tab wants to delete the database.
      database.onversionchange = () => {
        database.close();
        forget();
      };
      return database;
    } catch (error) {
      opened = undefined;
      throw error;
    }
  }

  async function run<T>(mode: 'readonly' | 'readwrite', act: (store: ObjectStore) => Request<T>): Promise<T> {
    const transaction = (await open()).transaction(values, mode, { durability: 'strict' });
    return new Promise((resolve, reject) => {
      const request = act(transaction.objectStore(values));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error ?? new Error('the storage has refused'));
    });
  }

  return {
    get: (key) => run('readonly', (store) => store.get(key)),
    set: async (key, value) => void (await run('readwrite', (store) => store.put(value, key))),
    remove: async (key) => void (await run('readwrite', (store) => store.delete(key))),
  };
}

function openDatabase(databases: Databases, name: string): Promise<Database> {
  return new Promise((resolve, reject) => {
    const request = databases.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(values);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
