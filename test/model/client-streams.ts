import type { StreamSocket } from '../../libs/client/src/platform/platform.ts';
import type { Life, Notify } from './client-device.ts';
import { openSocket } from './client-socket.ts';
import type { VirtualTime } from './client-time.ts';

export interface StreamEnd {
  readonly code: number | undefined;
  readonly afterMs: number;
  readonly reconnectAfterMs: number | undefined;
}

/** Fate of one stream. */
export interface StreamFate {
  readonly handshake: 'succeeds' | 'cut' | 'hangs';
  /** Virtual milliseconds of the handshake's way to the gateway, and of its first message's way back. */
  readonly upMs: number;
  readonly downMs: number;
  /** True if a failed handshake also raises `close`, as in browsers. In Node it raises only `error`. */
  readonly isClosed: boolean;
  /** Number of `auth` frames that are refused. */
  readonly refusals: number;
  /**
   * End of the stream, by the gateway or on the way, unless something else ends it before. Without a code the path is
   * cut in silence, so that neither side notices. `reconnectAfterMs` is the delay in a `reconnect` frame before the
   * end.
   */
  readonly end: StreamEnd | undefined;
}

/** A stream, from its opening until the client has heard of its end, has closed it, or has itself ended. */
export interface HeardStream {
  readonly sessionId: string;
  readonly life: Life;
  /** True if the client has received `hello`. */
  isOpen(): boolean;
  /** True if the gateway may have the stream. */
  isConnected(): boolean;
  /** Settles when the gateway has ended the stream. */
  readonly closed: Promise<void>;
  /** Cuts the path, so that nothing passes any more. */
  sever(): void;
  /** Lets the client hear that the connection is lost, unless the path was cut in silence. */
  lose(): void;
}

/** Called with each stream that the client opens. */
export type OnHandshake = (url: string, token: string) => void;

export interface StreamsDeps {
  readonly time: VirtualTime;
  /** The services' time when the virtual clock began, in milliseconds since 1970. */
  readonly epoch: number;
  readonly notify: Notify;
  readonly network: { readonly isOn: boolean };
  readonly isRevoked: (sessionId: string) => Promise<boolean>;
  readonly observed: { readonly violations: string[]; note(what: string): void; count(what: string): void };
}

/** The streams of a device. */
export interface Streams {
  readonly fates: StreamFate[];
  readonly heard: ReadonlySet<HeardStream>;
  /** True if this app was notified, rightly or not, that another connection has taken over the session's stream. */
  hasStopped(life: Life, sessionId: string): boolean;
  socketOf(life: Life, onHandshake: OnHandshake): new (url: string, protocols: string[]) => StreamSocket;
  onNetwork(isOn: boolean, isReported: boolean): void;
  /** Waits until the gateway has closed each stream whose session is over. */
  settle(): Promise<void>;
}

const silent = (): StreamSocket => ({
  ...{ onopen: null, onmessage: null, onclose: null, onerror: null },
  ...{ send: () => undefined, close: () => undefined },
});

/** Limit for hangs only. */
const patienceMs = 60_000;

export function createStreams(deps: StreamsDeps): Streams {
  const { observed } = deps;
  const heard = new Set<HeardStream>();
  const stops = new WeakMap<Life, string[]>();
  const fates: StreamFate[] = [];

  function begin(life: Life, onHandshake: OnHandshake, url: string, token: string): StreamSocket {
    // The code of a killed app may still run, but nothing leaves it.
    if (life.isOver) return silent();
    observed.note(`  opens the stream ${url.slice(-4)}`);
    observed.count('stream: opened by the client');
    onHandshake(url, token);
    const { socket, stream } = openSocket({
      ...{ ...deps, heard, life, url, token, untilClosed },
      fate: fates.shift(),
      onStop: (sessionId) => stops.set(life, [...(stops.get(life) ?? []), sessionId]),
    });
    if (heard.size > 0) observed.violations.push('two streams at once in one set of tabs');
    heard.add(stream);
    return socket;
  }

  /** Waits for the end of a stream whose session is over; a stream that outlives it is a violation. */
  async function untilClosed({ closed, sessionId }: HeardStream): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const isLate = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, patienceMs, true);
    });
    if ((await Promise.race([closed, isLate])) === true) observed.violations.push(`${sessionId} outlives its end`);
    clearTimeout(timer);
  }

  return {
    fates,
    heard,
    hasStopped: (life, sessionId) => stops.get(life)?.includes(sessionId) ?? false,
    socketOf: (life, onHandshake) =>
      function open(url: string, [, token = '']: string[]) {
        return begin(life, onHandshake, url, token);
      } as unknown as ReturnType<Streams['socketOf']>,
    onNetwork(isOn, isReported) {
      for (const stream of heard) {
        if (!isOn) stream.sever();
        if (isOn || isReported) stream.lose();
      }
    },
    async settle() {
      for (const stream of [...heard]) {
        if (stream.isConnected() && (await deps.isRevoked(stream.sessionId))) await untilClosed(stream);
      }
    },
  };
}
