import type { Platform, StreamSocket } from './platform.ts';

/** Globals that a platform may have. None of them is required. */
interface Globals {
  readonly fetch?: Platform['fetch'];
  readonly WebSocket?: new (url: string, protocols: string[]) => StreamSocket;
  readonly performance?: { now(): number };
  readonly crypto?: { getRandomValues?(bytes: Uint8Array): Uint8Array };
}

/**
 * Adds the missing parts from the globals of the platform. Throws a TypeError if there is no source of random numbers.
 */
export function completePlatform(given: Partial<Platform> & Pick<Platform, 'storage'>): Platform {
  const { fetch, WebSocket, performance } = globalThis as unknown as Globals;
  const found: Partial<Platform> = {
    ...(fetch && { fetch: (url, init) => fetch(url, init) }),
    WebSocket,
    now: () => Date.now(),
    monotonic: performance ? () => performance.now() : () => Date.now(),
    randomUUID,
    random: () => Math.random(),
    timers: { after: afterMs },
    // Shorter than the silence after which the gateway sends a ping. The client's ping makes the gateway's unnecessary,
    // so the phone's radio does not wake more often.
    quietMs: 38_000,
    storageTimeoutMs: 10_000,
    log: () => undefined,
  };
  const platform = { ...found, ...withoutUndefined(given) } as Platform;
  // Called now, so that a missing source makes the creation of the client fail and not the first login.
  platform.randomUUID();
  return platform;
}

function withoutUndefined(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/**
 * Makes a random UUID. `crypto.randomUUID` is not used, because it exists only in secure contexts and not in React
 * Native.
 */
export function randomUUID(): string {
  const { crypto } = globalThis as unknown as Globals;
  if (!crypto?.getRandomValues) throw new TypeError('This platform has no crypto: pass randomUUID');
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  // RFC 9562, version 4.
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-4$3-a$4-');
}

/** Runs the work after `ms` milliseconds. Returns the function that cancels it. */
export function afterMs(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
}
