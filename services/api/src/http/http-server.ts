import { once } from 'node:events';
import { createServer, type RequestListener, type ServerOptions, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { rejectMalformedRequests } from '@auth-account/lifecycle';

const serverOptions = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1_000,
} satisfies ServerOptions;

/** Connections that the kernel may queue for us. In a larger burst, clients lose a second to TCP's retry. */
const backlog = 4_096;

/** Above this a new connection is closed at once, to bound what silent clients take together. */
const maxConnections = 10_000;

/**
 * Milliseconds in which a client takes at least a part of an answer that waits for it; twice as long if it took some
 * first. Requests that are still being worked on have limits of their own.
 */
const defaultTakenForMs = 30_000;

/** Requests of one connection that may wait for their answers: Node accepts any number, and starts each at once. */
const maxUnderWay = 16;

/** Milliseconds in which a client may send one more request on a kept connection before it is cut. */
export const retireMs = 2_000;

export interface HttpServer {
  /** Listens, or throws (`EADDRINUSE` and others). */
  listen(port: number, host: string): Promise<AddressInfo>;
  /**
   * Ends the server without losing a request. For up to `retireForMs` every answer, also to requests under way, says
   * `Connection: close`, so that clients give up the connections that they keep: a server that cuts an idle one may
   * cross a request on its way (RFC 9112, section 9.6). Then it accepts no new connection, lets requests under way end,
   * and closes connections as they fall idle.
   */
  drain(retireForMs?: number): Promise<void>;
}

interface HttpServerOptions {
  readonly keepAliveSeconds: number;
  readonly takenForMs?: number;
}

/**
 * Creates an HTTP/1.1 server with explicit limits (docs/security.md): slow, oversized and ambiguous requests end, from
 * any client. A connection may send any number of requests, one after the other: `maxRequestsPerSocket` would make Node
 * answer 503 to requests under way. More than {@link maxUnderWay} that do not wait for their answers end the
 * connection, and so does an answer of which nothing is taken for `takenForMs`. An idle one is kept for
 * `keepAliveSeconds`.
 */
export function createHttpServer(
  listener: RequestListener,
  { keepAliveSeconds, takenForMs = defaultTakenForMs }: HttpServerOptions,
): HttpServer {
  /** By connection, because no event reports the end of an answer that was still queued when its connection ended. */
  const underWay = new Map<Socket, Set<ServerResponse>>();
  let isRetiring = false;
  const sound = rejectMalformedRequests(listener);
  const options = { ...serverOptions, keepAliveTimeout: keepAliveSeconds * 1_000 };
  const server = createServer(options, (request, response) => {
    const { socket } = request;
    const own = underWay.get(socket);
    if (own === undefined || own.size >= maxUnderWay) {
      socket.destroy();
      return;
    }
    if (isRetiring) response.shouldKeepAlive = false;
    own.add(response);
    response.on('timeout', () => {
      if (response.writableEnded) socket.destroy();
    });
    response.once('close', () => own.delete(response));
    sound(request, response);
  });
  server.on('connection', (socket) => {
    underWay.set(socket, new Set());
    socket.once('close', () => underWay.delete(socket));
  });
  server.maxConnections = maxConnections;
  server.timeout = takenForMs;
  server.maxHeadersCount = 0; // past it Node leaves headers out without a word; `rejectMalformedRequests` refuses

  async function retireConnections(forMs: number): Promise<void> {
    isRetiring = true;
    for (const own of underWay.values()) for (const response of own) response.shouldKeepAlive = false;
    const count = promisify(server.getConnections.bind(server));
    const deadline = performance.now() + forMs;
    while ((await count()) > 0 && performance.now() < deadline) await sleep(20);
  }

  return {
    async listen(port, host) {
      server.listen({ port, host, backlog });
      await once(server, 'listening');
      return server.address() as AddressInfo;
    },
    async drain(retireForMs = retireMs) {
      if (!server.listening) return;
      await retireConnections(retireForMs);
      const closed = once(server, 'close');
      server.close();
      const sweep = setInterval(() => server.closeIdleConnections(), 50);
      server.closeIdleConnections();
      try {
        await closed;
      } finally {
        clearInterval(sweep);
      }
    },
  };
}
