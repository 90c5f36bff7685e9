import { connect } from 'node:net';

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
  /** Milliseconds after which it is given up. */
  readonly waitMs: number;
  /** Ends our half of the connection after the last byte. */
  readonly isHalfClosed?: boolean;
}

/**
 * Sends the bytes on a separate connection, and reads until the server ends it. Throws if the connection is refused.
 */
export function exchange(
  port: number,
  bytes: string | Buffer,
  { waitMs, isHalfClosed = false }: ExchangeOptions,
): Promise<Exchange> {
  const { promise, resolve, reject } = Promise.withResolvers<Exchange>();
  const began = performance.now();
  let text = '';
  let isConnected = false;
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
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
  });
  socket.on('end', () => finish(performance.now() - began));
  socket.on('close', () => finish(performance.now() - began));
  socket.on('error', (error) => {
    if (!isConnected) reject(error); // afterwards a reset is the server's way to end it, and `close` follows
  });
  return promise;
}

/** No answer here repeats the request, so every status line is one of the server's. */
function statusesOf(text: string): number[] {
  return Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status));
}
