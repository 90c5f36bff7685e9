import type { AuthStorage } from '../platform/platform.ts';

/** The part of IndexedDB that the storage uses. */
export interface Databases<V = string> {
  open(name: string, version: number): Request<Database<V>> & { onupgradeneeded: (() => void) | null };
}
interface Request<T> {
  readonly result: T;
  readonly error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}
interface Database<V> {
  createObjectStore(name: string): unknown;
  transaction(name: string, mode: 'readonly' | 'readwrite', options: { readonly durability: 'strict' }): Transaction<V>;
  close(): void;
  onclose: (() => void) | null;
  onversionchange: (() => void) | null;
}
interface Transaction<V> {
  objectStore(name: string): ObjectStore<V>;
  readonly error: unknown;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
}
interface ObjectStore<V> {
  get(key: string): Request<V | undefined>;
  add(value: V, key: string): Request<unknown>;
  put(value: V, key: string): Request<unknown>;
  delete(key: string): Request<unknown>;
}

const values = 'values';

/**
 * Creates a storage in IndexedDB. `localStorage` is not suitable, because a tab may still read a value there that
 * another tab has overwritten. It would then bring back a session that was logged out.
 */
export function indexedStorage(databases: () => Databases, name: string): AuthStorage {
  return indexedValues(databases, name);
}

/** Values of a database in IndexedDB. */
export interface IndexedValues<V> {
  get(key: string): Promise<V | undefined>;
  set(key: string, value: V): Promise<void>;
  /** Rejects if there is a value already. */
  add(key: string, value: V): Promise<void>;
  remove(key: string): Promise<void>;
}

export function indexedValues<V>(databases: () => Databases<V>, name: string): IndexedValues<V> {
  let opened: Promise<Database<V>> | undefined;

  async function open(): Promise<Database<V>> {
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

  async function run<T>(mode: 'readonly' | 'readwrite', act: (store: ObjectStore<V>) => Request<T>): Promise<T> {
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
    add: async (key, value) => void (await run('readwrite', (store) => store.add(value, key))),
    remove: async (key) => void (await run('readwrite', (store) => store.delete(key))),
  };
}

function openDatabase<V>(databases: Databases<V>, name: string): Promise<Database<V>> {
  return new Promise((resolve, reject) => {
    const request = databases.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(values);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
