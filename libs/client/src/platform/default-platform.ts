import type { Platform, StreamSocket } from './platform.ts';

/** What a platform may have; nothing of it is required to exist. */
interface Globals {
  readonly fetch?: Platform['fetch'];
  readonly WebSocket?: new (url: string, protocols: string[]) => StreamSocket;
  readonly performance?: { now(): number };
  readonly crypto?: { randomUUID?(): string; getRandomValues?(bytes: Uint8Array): Uint8Array };
}

/** The given parts, and for the others what the platform has. Throws a TypeError if it has no equivalent. */
export function completePlatform(given: Partial<Platform> & Pick<Platform, 'storage'>): Platform {
  const { fetch, WebSocket, performance, crypto } = globalThis as unknown as Globals;
  const found: Omit<Platform, 'storage'> = {
    fetch: (url, init) => required('fetch', fetch)(url, init),
    WebSocket,
    now: () => Date.now(),
    monotonic: performance ? () => performance.now() : () => Date.now(),
    randomUUID: () => uuidOf(crypto),
    random: () => Math.random(),
    timers: { after: afterMs },
    connectivity: undefined,
    appState: undefined,
    log: () => undefined,
    locks: undefined,
    openChannel: undefined,
  };
  const platform = { ...found, ...withoutUndefined(given) } as Platform;
  // Fails when the client is created and not at the first login.
  platform.randomUUID();
  return platform;
}

function withoutUndefined(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function required<T>(name: string, value: T | undefined): T {
  if (value === undefined) throw new TypeError(`This platform has no ${name}: pass one to createAuthClient`);
  return value;
}

/** `crypto.randomUUID` exists in secure contexts only, and not in React Native. */
function uuidOf(crypto: Globals['crypto']): string {
  if (crypto?.randomUUID) return crypto.randomUUID();
  const bytes = new Uint8Array(16);
  required('crypto.getRandomValues', crypto?.getRandomValues).call(crypto, bytes);
  // RFC 9562, version 4.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function afterMs(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
}
