import { afterMs } from '../platform/default-platform.ts';
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
  abort(): void;
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
 * Limit for the wait for the browser, in milliseconds. It is shorter than the client's own, so that the call after it has
 * another connection.
 */
const limitMs = 4_000;

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

  function forget(connection: Promise<Database<V>>): void {
    if (opened === connection) opened = undefined;
  }

  function connect(): Promise<Database<V>> {
    const own = opened ?? openDatabase(databases(), name, () => forget(own));
    opened = own;
    return own;
  }

  /**
   * Runs a transaction. A browser may close a connection without an event, and then refuse every transaction on it, or
   * never end one. So each failure ends the connection, and the work is done once more on another.
   */
  async function run<T>(
    mode: 'readonly' | 'readwrite',
    act: (store: ObjectStore<V>) => Request<T>,
    isAgain = false,
  ): Promise<T> {
    const connection = connect();
    const state = { hasHung: false };
    try {
      return await runOn(await connection, mode, act, state);
    } catch (error) {
      forget(connection);
      connection.then((database) => database.close()).catch(() => undefined);
      if (isAgain || state.hasHung) throw error;
      return run(mode, act, true);
    }
  }

  return {
    get: (key) => run('readonly', (store) => store.get(key)),
    set: async (key, value) => void (await run('readwrite', (store) => store.put(value, key))),
    add: async (key, value) => void (await run('readwrite', (store) => store.add(value, key))),
    remove: async (key) => void (await run('readwrite', (store) => store.delete(key))),
  };
}

function runOn<V, T>(
  database: Database<V>,
  mode: 'readonly' | 'readwrite',
  act: (store: ObjectStore<V>) => Request<T>,
  state: { hasHung: boolean },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(values, mode, { durability: 'strict' });
    const fail = () => {
      cancel();
      reject(transaction.error ?? new Error('the storage has refused'));
    };
    const cancel = afterMs(limitMs, () => {
      state.hasHung = true;
      fail();
      try {
        // The write must not land later, over another one.
        transaction.abort();
      } catch {
        // It has just ended.
      }
    });
    transaction.onabort = fail;
    const request = act(transaction.objectStore(values));
    transaction.oncomplete = () => {
      cancel();
      resolve(request.result);
    };
  });
}

/** Opens the database. `onEnd` is called when the browser ends the connection. */
function openDatabase<V>(databases: Databases<V>, name: string, onEnd: () => void): Promise<Database<V>> {
  return new Promise((resolve, reject) => {
    let isGivenUp = false;
    const request = databases.open(name, 1);
    const cancel = afterMs(limitMs, () => {
      isGivenUp = true;
      reject(new Error('the storage does not open'));
    });
    request.onupgradeneeded = () => request.result.createObjectStore(values);
    request.onsuccess = () => {
      cancel();
      const database = request.result;
      database.onclose = onEnd;
      // Another tab wants to delete the database.
      database.onversionchange = () => {
        database.close();
        onEnd();
      };
      if (isGivenUp) database.close();
      resolve(database);
    };
    request.onerror = () => {
      cancel();
      reject(request.error);
    };
  });
}
