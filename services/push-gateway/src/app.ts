import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { AppError } from '@auth-account/errors';
import { readRequestHead, sendError } from './handshake/handshake.ts';
import type { createUpgrade } from './handshake/upgrade.ts';
import { type Connection, maxBackpressureBytes } from './streams/connection.ts';
import type { SocketData, SocketOpener } from './streams/open-socket.ts';

/**
 * Limit for the head of a request, in bytes: the api's. A browser adds the cookies of its site to a token, and the
 * library's 4 KiB are too few for both.
 */
const headBytes = 16_384;
// biome-ignore lint/style/noProcessEnv: the library reads the variable when it is loaded, and has no other setting
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(headBytes);
const { App, us_socket_local_port } = await import('uWebSockets.js');

export interface PushAppDeps {
  readonly upgrade: ReturnType<typeof createUpgrade>;
  readonly opener: Pick<SocketOpener, 'onOpen' | 'onLost'>;
  readonly onFrame: (connection: Connection, message: ArrayBuffer, isBinary: boolean) => void;
  /**
   * Called once at the end of each opened stream, with the close code. With 1006 no code came, and the text may say
   * why. The socket is gone by then.
   */
  readonly onClose: (connection: Connection, code: number, text: string) => void;
  readonly idleTimeoutSeconds: number;
}

export interface PushApp {
  /** Listens and returns the port. Throws if it can't. */
  listen(port: number, host: string | undefined): Promise<number>;
  /** Stops listening and cuts the remaining connections. */
  close(): void;
}

const streamPath = '/ws/push-stream/:id';
/**
 * Limit for a frame, in bytes. Above it uWebSockets.js cuts the connection without a close frame. Shorter frames that
 * are still too long are refused by the gateway, with a close frame.
 */
const maxPayloadLength = 64 * 1024;
/** LIBUS_LISTEN_EXCLUSIVE_PORT, without which two gateways can listen on one port and share its connections. */
const exclusivePort = 1;

/** The types of uWebSockets.js have only `listen(host, port, callback)`. */
type Listen = (
  ...args: [
    ...where: [host: string, port: number] | [port: number],
    options: number,
    listening: (socket: us_listen_socket | false) => void,
  ]
) => void;

/**
 * Creates the gateway's server. It serves push streams on their path, and the contract's errors everywhere else. It
 * does not listen yet.
 */
export function createPushApp({ upgrade, opener, onFrame, onClose, idleTimeoutSeconds }: PushAppDeps): PushApp {
  const app = App();
  app.ws<SocketData>(streamPath, {
    maxPayloadLength,
    maxBackpressure: maxBackpressureBytes,
    // The library counts in looks, one every four seconds, and the first may come at once. Without another look, streams
    // would end by that much too early: at the shortest time-out before their first ping.
    idleTimeout: idleTimeoutSeconds + 4,
    // See ping-wheel.ts.
    sendPingsAutomatically: false,
    upgrade(res, req, context) {
      if (hasAmbiguousLength(req)) res.close();
      else upgrade(res, req, context);
    },
    open: opener.onOpen,
    message(socket, message, isBinary) {
      const { connection } = socket.getUserData();
      if (connection !== undefined) onFrame(connection, message, isBinary);
    },
    close(socket, code, message) {
      const { connection } = socket.getUserData();
      if (connection === undefined) {
        opener.onLost();
        return;
      }
      connection.socket = undefined;
      onClose(connection, code, code === 1006 ? Buffer.from(message).toString() : '');
    },
  });
  mountRefusals(app);
  return {
    listen: (port, host) => listen(app, port, host),
    close() {
      app.close();
    },
  };
}

/**
 * Answers requests that are no handshake. The contract has no code for 426 Upgrade Required, so a plain GET of a stream
 * is answered 404, and any other method 405.
 */
function mountRefusals(app: TemplatedApp): void {
  app.any(streamPath, (res, req) => {
    const isRead = req.getMethod() === 'get' || req.getMethod() === 'head';
    const wrongMethod = () => new AppError('ERR-METHOD-NOT-ALLOWED', { headers: { Allow: 'GET' } });
    answer(res, req, isRead ? new AppError('ERR-ROUTE-NOT-FOUND') : wrongMethod());
  });
  app.any('/*', (res, req) => answer(res, req, new AppError('ERR-ROUTE-NOT-FOUND')));
}

function answer(res: HttpResponse, req: HttpRequest, error: AppError): void {
  // uWebSockets.js would also answer the bytes that follow this request. They may belong to another client, so the
  // connection ends.
  if (hasAmbiguousLength(req)) res.close();
  else sendError(res, error, readRequestHead(req));
}

function listen(app: TemplatedApp, port: number, host: string | undefined): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const where: [string, number] | [number] = host === undefined ? [port] : [host, port];
  (app.listen as unknown as Listen).call(app, ...where, exclusivePort, (socket) => {
    if (socket === false)
      reject(new Error(`cannot listen on ${where.join(':')}: the port is taken, or not ours to take`));
    else resolve(us_socket_local_port(socket));
  });
  return promise;
}

/**
 * Returns true if two readers might disagree about the end of this request. uWebSockets.js takes the first of several
 * lengths and is lenient with chunks; RFC 9112 sections 6.3 and 11.2 demand that such a request is refused and its
 * connection ended. Nothing here needs a body, so any transfer coding is refused.
 */
function hasAmbiguousLength(req: HttpRequest): boolean {
  const lengths: string[] = [];
  let isCoded = false;
  req.forEach((name, value) => {
    if (name === 'content-length') lengths.push(value);
    if (name === 'transfer-encoding') isCoded = true;
  });
  return isCoded || lengths.length > 1 || !/^\d*$/.test(lengths[0] ?? '') || lengths[0] === '';
}
