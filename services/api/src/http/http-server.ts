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

/**
 * Limit for the connections that the kernel queues for us. In a larger burst, clients wait a second for TCP's retry.
 */
const backlog = 4_096;

/** Above this number a new connection is closed at once, so that silent clients cannot take unlimited memory. */
const maxConnections = 10_000;

/**
 * Milliseconds within which a client must read some part of an answer. A client that has read a part before has twice
 * as long. The work on a request has limits of its own.
 */
const defaultTakenForMs = 30_000;

/**
 * Limit for the requests of one connection that wait for their answers. Node itself accepts any number of requests and
 * starts each at once.
 */
const maxUnderWay = 16;

/** Milliseconds in which a client may send one more request on a kept connection before the server closes it. */
export const retireMs = 2_000;

export interface HttpServer {
  /** Listens on every address of the system if there is no `host`. Throws `EADDRINUSE` and others. */
  listen(port: number, host: string | undefined): Promise<AddressInfo>;
  /**
   * Ends the server without losing a request. For up to `retireForMs` every answer, including those to requests under
   * way, has `Connection: close`, so that clients give up the connections that they keep. It does not close idle
   * connections yet, because a request might be on its way (RFC 9112, section 9.6). Then it accepts no new connection,
   * lets requests under way end, and closes connections as they become idle.
   */
  drain(retireForMs?: number): Promise<void>;
}

interface HttpServerOptions {
  readonly keepAliveSeconds: number;
  readonly takenForMs?: number;
}

/**
 * Creates an HTTP/1.1 server with explicit limits (docs/security.md). It ends slow, oversized and ambiguous requests. A
 * connection may send any number of requests, one after the other, because `maxRequestsPerSocket` would make Node
 * answer 503 to requests under way. The server closes a connection that has more than {@link maxUnderWay} unanswered
 * requests, or whose client reads nothing of an answer for `takenForMs`. It keeps an idle connection for
 * `keepAliveSeconds`.
 */
export function createHttpServer(
  listener: RequestListener,
  { keepAliveSeconds, takenForMs = defaultTakenForMs }: HttpServerOptions,
): HttpServer {
  /**
   * Unfinished answers by connection, because no event reports the end of an answer that is still queued when its
   * connection ends.
   */
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
  server.maxHeadersCount = 0; // above a limit Node drops headers silently; `rejectMalformedRequests` refuses

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
