import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Platform } from '@auth-account/client';
import { pushStreamPath } from '@auth-account/contracts/push/close-codes';
import { type ClientOptions, WebSocket } from 'ws';
import { bearer } from '../api/api-driver.ts';

/** The end of a stream, as the client saw it. */
export interface StreamEnd {
  readonly code: number;
  readonly reason: string;
}

/** A push stream as an app sees it. */
export type PushClient = Awaited<ReturnType<typeof connect>>;

/** A stream whose `hello` has come. */
export type StreamClient = Awaited<ReturnType<typeof openGreeted>>;

/** Parts of a handshake other than its URL. */
export interface Credentials {
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string | undefined;
  readonly subprotocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocolVersion?: 8 | 13;
  /** Milliseconds that the handshake may take. */
  readonly handshakeTimeout?: number;
}

export interface HandshakeOptions extends Credentials {
  readonly sessionId: string;
}

const addressOf = (base: string, sessionId: string) => `${base}${pushStreamPath(sessionId)}`;

/** The WebSocket client of tests and tools: begins a handshake. */
export function dial(url: string, { token, subprotocols = [], headers, ...version }: Credentials): WebSocket {
  const authorization = token === undefined ? {} : bearer(token);
  const options: ClientOptions = { headers: { ...authorization, ...headers }, perMessageDeflate: false, ...version };
  return new WebSocket(url, [...subprotocols], options);
}

/**
 * Returns a WebSocket class for the client of apps. A socket connects to what `target` returns for its URL, and `watch`
 * gets it before the client does.
 */
export function platformSocket(
  target: (url: string) => string,
  watch: (socket: WebSocket, protocols: readonly string[]) => void,
): NonNullable<Platform['WebSocket']> {
  class WatchedSocket extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(target(url), protocols);
      watch(this, protocols);
    }
  }
  return WatchedSocket as unknown as NonNullable<Platform['WebSocket']>;
}

/**
 * Opens a stream, and waits for its first frame or its end. Throws if the gateway refuses it. Opens it again, as apps
 * do, if it is lost before any frame. Such a loss is a flaw of uWebSockets.js, which the gateway makes rare
 * (ADR 0004).
 */
export function openStream(base: string, { sessionId, ...credentials }: HandshakeOptions): Promise<PushClient> {
  return openStreamAt(addressOf(base, sessionId), credentials);
}

/** Opens a stream in the same way, by its whole URL. */
async function openStreamAt(url: string, credentials: Credentials, maxLost = 3): Promise<PushClient> {
  for (let lost = 0; ; lost += 1) {
    const client = await connect(url, credentials);
    if (!(await isLost(client)) || lost === maxLost) return client;
  }
}

/** Opens a stream by its whole URL and waits for `hello`. Throws if the stream is refused, or ends first. */
export async function openGreeted(url: string, credentials: Credentials, maxLost?: number) {
  const stream = await openStreamAt(url, credentials, maxLost);
  const gone = stream.closed.then(({ code }) => Promise.reject(new Error(`closed with ${code} before hello`)));
  const hello = await Promise.race([stream.next(), gone]);
  /** `at`: `performance.now()` at the close frame. */
  const closed = stream.closed.then((end) => ({ ...end, at: performance.now() }));
  return { ...stream, hello, closed };
}

async function isLost({ begun, closed }: PushClient): Promise<boolean> {
  const end = await Promise.race([begun.then(() => undefined), closed]);
  return end?.code === 1006;
}

async function connect(url: string, credentials: Credentials) {
  const socket = dial(url, credentials);
  const begun = Promise.withResolvers<void>();
  const frames: Record<string, unknown>[] = [];
  const waiting: ((frame: Record<string, unknown>) => void)[] = [];
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data)) as Record<string, unknown>;
    const subscriber = waiting.shift();
    if (subscriber) subscriber(frame);
    else frames.push(frame);
    begun.resolve();
  });
  const closed = new Promise<StreamEnd>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  const upgraded = once(socket, 'upgrade') as Promise<[IncomingMessage]>;
  const [[{ headers }]] = await Promise.all([upgraded, once(socket, 'open')]);
  socket.on('error', () => undefined); // the close event follows, with code 1006
  return {
    socket,
    /** Headers of the 101 answer. */
    headers,
    /** Resolves when the first frame has arrived. */
    begun: begun.promise,
    closed,
    isOpen: () => socket.readyState === WebSocket.OPEN,
    /** Ends the connection without a close frame. */
    terminate: () => socket.terminate(),
    send: (frame: unknown) => socket.send(JSON.stringify(frame)),
    /** Returns the next frame. Each frame is returned once. */
    next(): Promise<Record<string, unknown>> {
      const frame = frames.shift();
      if (frame) return Promise.resolve(frame);
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}

/** Returns the error answer to a handshake. Throws if the gateway opens the stream. */
export async function refusalOf(base: string, { sessionId, ...credentials }: HandshakeOptions) {
  const socket = dial(addressOf(base, sessionId), credentials);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  socket.on('unexpected-response', (_request, response) => resolve(response));
  socket.on('error', reject);
  socket.on('open', () => {
    socket.terminate();
    reject(new Error('the stream was opened'));
  });
  const response = await promise;
  const { statusCode = 0, headers } = response;
  return { status: statusCode, headers, body: JSON.parse(await text(response)) };
}
