import { once } from 'node:events';
import { createServer, type RequestListener, type ServerOptions, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { rejectMalformedRequests } from '@auth-account/lifecycle';

/**
 * Longer than a load balancer keeps an idle connection (60 s at the usual ones), so that it is never the first to
 * close.
 */
const keepAliveTimeoutMs = 65_000;

const serverOptions = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: keepAliveTimeoutMs,
  connectionsCheckingInterval: 1_000,
} satisfies ServerOptions;

/** Connections that the kernel may hold for us; a burst past it costs its clients a second of TCP's own retry. */
const backlog = 4_096;

/** Past this a new connection is closed at once: what those that send nothing may take together stays bounded. */
const maxConnections = 10_000;

/** Requests of one connection that may wait for their answers: Node takes in whatever comes, and runs it at once. */
const maxUnderWay = 16;

/** How long a connection that a client keeps has for one more request before it is cut. */
export const retireMs = 2_000;

export interface HttpServer {
  /** Listens, or throws (`EADDRINUSE` and the like). */
  listen(port: number, host: string): Promise<AddressInfo>;
  /**
   * Ends the server without a request lost: for up to `retireForMs` every answer, those under way too, says
   * `Connection: close`, so that clients part with the connections they keep (RFC 9112, section 9.6: who cuts an idle
   * one may meet a request on its way); then takes no new connection, lets what is in flight end, and closes idle
   * connections as they fall idle.
   */
  drain(retireForMs?: number): Promise<void>;
}

/**
 * An HTTP/1.1 server with explicit limits (docs/security.md): slow, oversized and ambiguous requests end, from any
 * client. A connection has as many requests as it likes, one after the other: past `maxRequestsPerSocket` Node answers
 * 503 to what is under way. More than {@link maxUnderWay} that do not wait for their answers end it.
 */
export function createHttpServer(listener: RequestListener): HttpServer {
  /** By connection: of an answer whose turn had not come when the connection ended, nobody says that it is over. */
  const underWay = new Map<Socket, Set<ServerResponse>>();
  let isRetiring = false;
  const sound = rejectMalformedRequests(listener);
  const server = createServer(serverOptions, (request, response) => {
    const { socket } = request;
    const own = underWay.get(socket);
    if (own === undefined || own.size >= maxUnderWay) {
      socket.destroy();
      return;
    }
    if (isRetiring) response.shouldKeepAlive = false;
    own.add(response);
    response.once('close', () => own.delete(response));
    sound(request, response);
  });
  server.on('connection', (socket) => {
    underWay.set(socket, new Set());
    socket.once('close', () => underWay.delete(socket));
  });
  server.maxConnections = maxConnections;
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
