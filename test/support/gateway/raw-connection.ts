import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { pushStreamPath } from '@auth-account/contracts/push/close-codes';
import { bearer } from '../api/api-driver.ts';
import { handshakeRequest, readFrames } from './websocket-wire.ts';

/** Outcome of bytes that were sent to a port. */
export interface Exchange {
  /** Status codes of the answers, in order. */
  readonly statuses: readonly number[];
  /** Everything that came back, byte for byte. */
  readonly text: string;
  /** Milliseconds until the server ended the connection; undefined if it was still open at the end of the wait. */
  readonly endedMs: number | undefined;
}

export interface ExchangeOptions {
  /** Milliseconds after which the exchange is given up. */
  readonly waitMs: number;
  /** Ends our half of the connection after the last byte. */
  readonly isHalfClosed?: boolean;
  /** Returns true if the text received so far is enough. */
  readonly isEnough?: (text: string) => boolean;
}

/** Input of a handshake. */
export type RawHandshake = Readonly<Record<'sessionId' | 'token', string>>;

/** A frame as received over the wire. */
export interface RawFrame {
  /** RFC 6455 section 5.2: 1 text, 8 close, 9 ping. */
  readonly opcode: number;
  readonly payload: Buffer;
}

/** A push stream on a plain TCP socket: cheap, and the test sees every byte that the gateway sends. */
export type RawStream = ReturnType<typeof openRawStream>;

const ignore = () => undefined;

/**
 * The TCP client of tests and tools, for bytes that an HTTP client would not send and connections that it would not
 * break. Connects to a port of this machine or to an address, and sends nothing. An error is reported by `close` alone.
 */
export function openSocket(to: number | string, options: Partial<TcpNetConnectOpts> = {}): Socket {
  const { hostname: host, port } = typeof to === 'number' ? { hostname: '127.0.0.1', port: to } : new URL(to);
  return connect({ host, port: Number(port), noDelay: true, ...options }).on('error', ignore);
}

/**
 * Sends the bytes on a separate connection, and reads until the server ends it. Throws if the connection is refused.
 */
export function exchange(
  to: number | string,
  bytes: string | Buffer,
  { waitMs, isHalfClosed = false, isEnough = () => false }: ExchangeOptions,
): Promise<Exchange> {
  const { promise, resolve, reject } = Promise.withResolvers<Exchange>();
  const began = performance.now();
  let text = '';
  let isConnected = false;
  const socket = openSocket(to, { allowHalfOpen: true });
  const finish = (endedMs: number | undefined) => {
    clearTimeout(timer);
    socket.destroy();
    resolve({ statuses: statusesOf(text), text, endedMs });
  };
  const timer = setTimeout(() => finish(undefined), waitMs);
  socket.setEncoding('latin1');
  socket.on('connect', () => {
    isConnected = true;
    socket.write(bytes);
    if (isHalfClosed) socket.end();
  });
  socket.on('data', (chunk: string) => {
    text += chunk;
    if (isEnough(text)) finish(undefined);
  });
  socket.on('end', () => finish(performance.now() - began));
  socket.on('close', () => finish(performance.now() - began));
  socket.on('error', (error) => {
    if (!isConnected) reject(error); // later, the server may end it by a reset, and `close` follows
  });
  return promise;
}

/** No answer here repeats the request, so every status line comes from the server. */
function statusesOf(text: string): number[] {
  return Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status));
}

/** Returns the request that opens a stream. */
export function handshakeText({ sessionId, token }: RawHandshake): string {
  return handshakeRequest(pushStreamPath(sessionId), bearer(token));
}

/** Opens a stream that answers neither pings nor the close frame, so that the gateway ends the connection. */
export function openRawStream(base: string, handshake: RawHandshake, onFrame: (frame: RawFrame) => void = ignore) {
  const socket = openSocket(base);
  const status = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<void>();
  let rest: Buffer = Buffer.alloc(0);
  let isOpen = false;
  socket.write(handshakeText(handshake));
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    if (!isOpen) {
      const end = rest.indexOf('\r\n\r\n');
      if (end < 0) return;
      isOpen = true;
      status.resolve(Number(rest.toString('latin1', 9, 12)));
      rest = rest.subarray(end + 4);
    }
    rest = readFrames(rest, (opcode, payload) => onFrame({ opcode, payload }));
  });
  socket.on('close', () => {
    status.resolve(0);
    ended.resolve();
  });
  return {
    socket,
    /** HTTP status of the answer; 0 if the connection ended first. */
    status: status.promise,
    /** Resolves when the connection has ended, in any way. */
    ended: ended.promise,
  };
}
