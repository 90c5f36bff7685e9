/** Keeps the values that must survive a restart. It may be a keychain, a key store or IndexedDB. */
export interface AuthStorage {
  /**
   * Resolves to null or undefined if nothing is kept under the key. Rejects if that can't be known now, for example
   * because the store is locked. If the value can never be read again, for example because its key was not in the
   * backup, the error has `isLost: true`.
   */
  get(key: string): Promise<string | null | undefined>;
  set(key: string, value: string): Promise<void>;
  remove(key: string): Promise<void>;
}

/** A fact about the device that changes. */
export interface DeviceSignal {
  /** Reports each change, and the present value if it is known at once. Returns the function that ends the reports. */
  subscribe(listener: (value: boolean) => void): () => void;
}

/** The part of `WebSocket` that the client uses. */
export interface StreamSocket {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string): void;
  close(code?: number): void;
}

/** The part of the Web Locks API that the client uses. */
export interface Locks {
  request<T>(name: string, options: { readonly signal?: AbortSignal }, work: () => Promise<T>): Promise<T>;
}

/** The part of `BroadcastChannel` that the client uses. */
export interface Channel {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  postMessage(data: unknown): void;
  close(): void;
}

/** One line for the app's log. It never contains a token, an email address or a password. */
export interface LogEntry {
  /** Wall clock, in milliseconds since 1970. */
  readonly at: number;
  readonly event: string;
  readonly operation?: string;
  readonly status?: number;
  readonly code?: string;
  readonly request_id?: string;
}

/** Writes a line with the current time. */
export type Log = (entry: Omit<LogEntry, 'at'>) => void;

/** Timers that a test can replace. */
export interface Timers {
  /** Runs the work after `ms` milliseconds. Returns the function that cancels it. */
  after(ms: number, work: () => void): () => void;
}

/**
 * Returns a `fetch` that adds a proof of the device's key to a request for tokens. `boundKey` of
 * `@auth-account/client/bound-key` makes one.
 */
export type BoundKey = (platform: Pick<Platform, 'fetch' | 'now' | 'randomUUID'>) => Platform['fetch'];

/** Everything that the client takes from the platform. */
export interface Platform {
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** Undefined if the platform has no WebSocket. There is then no stream. */
  readonly WebSocket: (new (url: string, protocols: string[]) => StreamSocket) | undefined;
  readonly storage: AuthStorage;
  /** Limit for the wait for a call of the storage, in milliseconds. The default is 10,000. */
  readonly storageTimeoutMs: number;
  /** Signs the requests for tokens with a key of the device: see {@link BoundKey}. */
  readonly boundKey: BoundKey | undefined;
  /**
   * Wall clock, in milliseconds since 1970. It is used only for the log and for timestamps, because a phone's clock may
   * be wrong.
   */
  readonly now: () => number;
  /** A clock in milliseconds that the user can't set. */
  readonly monotonic: () => number;
  /** Must be unguessable, because idempotency keys and the device's id are made with it. */
  readonly randomUUID: () => string;
  /** Random number for the jitter of pauses, at least 0 and less than 1. */
  readonly random: () => number;
  readonly timers: Timers;
  /** Silence, in milliseconds, after which the client asks whether the stream is alive. The default is 38,000. */
  readonly quietMs: number;
  /** True while there is a network. */
  readonly connectivity: DeviceSignal | undefined;
  /** True while the app is in the foreground. */
  readonly appState: DeviceSignal | undefined;
  readonly log: (entry: LogEntry) => void;
  /** For a page that is open in several tabs. */
  readonly locks: Locks | undefined;
  readonly openChannel: ((name: string) => Channel) | undefined;
}
