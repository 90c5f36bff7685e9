import { isRecord, parseJson } from '../http/exchange.ts';
import type { Platform, StreamSocket } from '../platform/platform.ts';
import type { Access } from '../session/access.ts';
import { createLiveness } from './liveness.ts';

/** A connection of the stream, from its handshake on. */
export interface Connection {
  readonly era: string;
  /** Returns the newest access token that the gateway was given. */
  token(): string;
  isOpen(): boolean;
  /** Gives the gateway a new access token, so that the stream lasts longer. */
  extend(access: Access): void;
  /**
   * Demands an answer. If none comes, the connection ends with 1006. With `afterMs`, asks only if the silence has
   * lasted that long.
   */
  check(afterMs?: number): void;
  /** Closes the connection. The listener is not called any more. */
  close(): void;
}

/** The end of a connection. */
export interface ConnectionEnd {
  readonly code: number;
  /** True if the handshake had succeeded. */
  readonly wasOpen: boolean;
  /** Pause before the app should reconnect, as the gateway asked, in milliseconds from now. */
  readonly pauseMs: number | undefined;
}

export interface ConnectionListener {
  onOpen(): void;
  onFrame(frame: Readonly<Record<string, unknown>>): void;
  /** Called at most once, and not after `close`. */
  onEnd(end: ConnectionEnd): void;
  /** Called when the access token should be renewed. */
  onExpiring(): void;
}

/** Time for a handshake and its `hello`, in milliseconds. */
const handshakeMs = 15_000;
/** Time for the close that follows an error, in milliseconds. */
const errorMs = 1_000;

export function connect(
  socket: StreamSocket,
  access: Access,
  platform: Pick<Platform, 'timers' | 'monotonic' | 'quietMs'>,
  listener: ConnectionListener,
): Connection {
  const { timers, monotonic } = platform;
  let token = access.token;
  let isOpen = false;
  let backAt: number | undefined;
  const liveness = createLiveness(
    platform,
    (data) => socket.send(data),
    () => end(1006, true),
  );
  const cancels = [timers.after(handshakeMs, () => isOpen || end(1006, true)), liveness.stop];

  function warnInTime({ expiresAt, marginMs }: Access): void {
    cancels.push(timers.after(Math.max(expiresAt - marginMs - monotonic(), 0) + 50, () => listener.onExpiring()));
  }

  /** Stops the timers and ignores the socket's further events. */
  function forget(): void {
    for (const cancel of cancels) cancel();
    socket.onmessage = socket.onclose = null;
    // The listener is not null, because some platforms throw errors that have no listener.
    socket.onerror = () => undefined;
  }

  function end(code: number, isGivenUp = false): void {
    forget();
    if (isGivenUp) socket.close();
    const pauseMs = backAt === undefined ? undefined : Math.max(backAt - monotonic(), 0);
    listener.onEnd({ code, wasOpen: isOpen, pauseMs });
  }

  socket.onclose = ({ code }) => end(code);
  // A close should follow, but Node reports a failed handshake only by this event.
  socket.onerror = () => cancels.push(timers.after(errorMs, () => end(1006, true)));
  socket.onmessage = ({ data }) => {
    liveness.onHeard();
    const frame = parseJson(String(data));
    if (!isRecord(frame)) return;
    if (frame.type === 'hello') {
      isOpen = true;
      listener.onOpen();
    } else if (frame.type === 'reconnect' && typeof frame.after_ms === 'number') backAt = monotonic() + frame.after_ms;
    else listener.onFrame(frame);
  };
  warnInTime(access);

  return {
    era: access.era,
    token: () => token,
    isOpen: () => isOpen,
    extend(next) {
      if (!isOpen || next.token === token) return;
      token = next.token;
      liveness.ask({ type: 'auth', access_token: token });
      warnInTime(next);
    },
    check: (afterMs) => isOpen && liveness.check(afterMs),
    close() {
      forget();
      socket.close(1000);
    },
  };
}
