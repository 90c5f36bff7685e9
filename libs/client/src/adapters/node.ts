import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { AuthStorage, Platform } from '../platform/platform.ts';

/**
 * Creates the options for `createAuthClient` in a Node program: a storage in a directory that only the program's user
 * can read, and streams that do not keep the program running. Only one process at a time may use the directory.
 */
export function nodePlatform(directory: string): Pick<Platform, 'storage'> & Partial<Pick<Platform, 'WebSocket'>> {
  const { WebSocket } = globalThis as { readonly WebSocket?: typeof globalThis.WebSocket };
  if (WebSocket === undefined)
    process.emitWarning('This Node has no WebSocket: pass one to createAuthClient, or there is no stream');
  return { storage: fileStorage(directory), ...(WebSocket && { WebSocket: leavingSocket(WebSocket) }) };
}

/** The message that Node's `fetch` and `WebSocket` publish about a request that they send. */
interface SentHeaders {
  readonly request: { readonly origin?: unknown; readonly path?: unknown };
  readonly socket: Socket;
}

/** Time for the other side's close frame, in milliseconds. */
const closingMs = 3_000;

/**
 * Returns Node's WebSocket, changed so that it does not keep the program running. After `close`, Node's own WebSocket
 * waits for an answer without limit. If the network path is cut, the program could therefore never end.
 */
function leavingSocket(Base: typeof WebSocket): NonNullable<Platform['WebSocket']> {
  return class extends Base {
    #socket: Socket | undefined;

    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      const { origin, pathname, search } = new URL(url.replace(/^ws/, 'http'));
      const learn = (message: unknown) => {
        const { request, socket } = message as SentHeaders;
        if (request.origin === origin && request.path === pathname + search) this.#socket = socket;
      };
      const sent = 'undici:client:sendHeaders';
      subscribe(sent, learn);
      for (const type of ['open', 'error', 'close']) this.addEventListener(type, () => unsubscribe(sent, learn));
    }

    override close(code?: number): void {
      super.close(code);
      const socket = this.#socket?.unref();
      const end = setTimeout(() => socket?.destroy(), closingMs).unref();
      this.addEventListener('close', () => clearTimeout(end));
    }
  } as unknown as NonNullable<Platform['WebSocket']>;
}

function fileStorage(directory: string): AuthStorage {
  const fileOf = (key: string) => join(directory, `${encodeURIComponent(key)}.json`);
  const temporaryOf = (key: string) => `${fileOf(key)}.new`;
  /** The latest call. Each waits for the one before, so that a disk that hangs takes one of Node's threads and not all. */
  let latest: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const own = latest.then(work, work);
    latest = own;
    return own;
  }

  async function read(key: string): Promise<string | undefined> {
    try {
      return await readFile(fileOf(key), 'utf8');
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ENOENT') return;
      throw error;
    }
  }

  async function write(key: string, value: string): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    // The file is renamed into place, so that a crash leaves either the old value or the new one.
    await writeFile(temporaryOf(key), value, { mode: 0o600, flush: true });
    await rename(temporaryOf(key), fileOf(key));
  }

  async function remove(key: string): Promise<void> {
    await rm(fileOf(key), { force: true });
    // A process that was killed while it wrote has left a secret there.
    await rm(temporaryOf(key), { force: true });
  }

  return {
    get: (key) => inTurn(() => read(key)),
    set: (key, value) =>
      inTurn(() =>
        write(key, value).catch(async (error) => {
          // On a full disk, what was written takes space.
          await rm(temporaryOf(key), { force: true }).catch(() => undefined);
          throw error;
        }),
      ),
    remove: (key) => inTurn(() => remove(key)),
  };
}
