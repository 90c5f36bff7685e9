import { isRecord, parseJson } from '../http/exchange.ts';
import type { Platform, StreamSocket } from '../platform/platform.ts';
import type { Access } from '../session/access.ts';
import { createLiveness } from './liveness.ts';

/** One connection of the stream, from its handshake on. */
export interface Connection {
  readonly era: string;
  /** The newest access token that the gateway was given. */
  token(): string;
  isOpen(): boolean;
  /** Gives the gateway a new access token, with which the stream lasts longer. */
  extend(access: Access): void;
  /** Demands an answer; without one the connection ends with 1006. With `afterMs`, only if it was silent for so long. */
  check(afterMs?: number): void;
  /** Closes it; nothing of it is heard any more. */
  close(): void;
}

/** How a connection ended. */
export interface ConnectionEnd {
  readonly code: number;
  /** The handshake had succeeded. */
  readonly wasOpen: boolean;
  /** Milliseconds until the gateway wants the app back, counted from now. */
  readonly pauseMs: number | undefined;
}

export interface ConnectionListener {
  onOpen(): void;
  onFrame(frame: Readonly<Record<string, unknown>>): void;
  /** Comes once at most, and not after `close`. */
  onEnd(end: ConnectionEnd): void;
  /** The access token should be renewed now. */
  onExpiring(): void;
}

/** Time for a handshake and its `hello`, in milliseconds. */
const handshakeMs = 15_000;
/** Time for the close that follows an error. */
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

  /** What the socket says from now on is about the past. */
  function forget(): void {
    for (const cancel of cancels) cancel();
    socket.onmessage = socket.onclose = null;
    // Not null: some platforms throw errors that nobody listens to.
    socket.onerror = () => undefined;
  }

  function end(code: number, isGivenUp = false): void {
    forget();
    if (isGivenUp) socket.close();
    const pauseMs = backAt === undefined ? undefined : Math.max(backAt - monotonic(), 0);
    listener.onEnd({ code, wasOpen: isOpen, pauseMs });
  }

  socket.onclose = ({ code }) => end(code);
  // A close should follow, but Node tells of a failed handshake only so.
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
