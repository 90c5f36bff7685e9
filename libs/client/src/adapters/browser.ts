import type { Channel, DeviceSignal, Locks, Platform } from '../platform/platform.ts';
import { type Databases, indexedStorage } from './indexed-storage.ts';

/** The parts of a page that the adapter uses. */
interface Page {
  readonly indexedDB: Databases;
  readonly navigator: { readonly onLine?: boolean; readonly locks?: Locks };
  readonly document?: Target & { readonly visibilityState: string };
  readonly BroadcastChannel?: new (name: string) => Channel;
}
interface Target {
  addEventListener(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
}

/**
 * Creates a page's options for `createAuthClient`: a storage in IndexedDB, the state of the network and of the page,
 * and the means by which the page's tabs share a session. Any script that runs in the page can read its tokens; a
 * strict Content Security Policy is the defence.
 *
 * While a page is rendered on a server, the state stays `unknown` and no timer runs.
 */
export function browserPlatform(): Pick<Platform, 'storage'> & Partial<Platform> {
  const page = globalThis as unknown as Page & Target;
  const { navigator, document, BroadcastChannel } = page;
  // Read only when needed, because a browser that forbids IndexedDB throws as soon as the property is read.
  const storage = indexedStorage(() => page.indexedDB, 'auth-account');
  if (!document) return { storage, timers: { after: () => () => undefined } };
  return {
    storage,
    connectivity: signalOf(page, ['online', 'offline'], () => navigator.onLine !== false),
    appState: signalOf(document, ['visibilitychange'], () => document.visibilityState === 'visible'),
    locks: navigator.locks,
    openChannel: BroadcastChannel && ((name) => new BroadcastChannel(name)),
  };
}

function signalOf(target: Target, types: readonly string[], read: () => boolean): DeviceSignal {
  return {
    subscribe(listener) {
      const report = () => listener(read());
      for (const type of types) target.addEventListener(type, report);
      report();
      return () => {
        for (const type of types) target.removeEventListener(type, report);
      };
    },
  };
}
