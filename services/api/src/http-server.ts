import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { soundRequestsOnly } from '@auth-account/lifecycle';

/** Longer than a load balancer keeps an idle connection (60 s at the usual ones), so that it is never the first to close. */
const keepAliveTimeoutMs = 65_000;

/** Connections that the kernel may hold for us; a burst past it costs its clients a second of TCP's own retry. */
const backlog = 4_096;

/** Past this a new connection is closed at once: what those that send nothing may take together stays bounded. */
const maxConnections = 10_000;

/** The answers of each server that are being worked on. */
const underWay = new WeakMap<Server, Set<ServerResponse>>();

/**
 * An HTTP/1.1 server with explicit limits (docs/security.md): slow, oversized and ambiguous requests end, whoever sends
 * them. Requests on one connection are not counted: past `maxRequestsPerSocket` Node answers 503 to what is under way.
 */
export function createHttpServer(listener: RequestListener): Server {
  const answers = new Set<ServerResponse>();
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 15_000,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: 1_000,
    },
    soundRequestsOnly((request, response) => {
      answers.add(response);
      response.once('close', () => answers.delete(response));
      listener(request, response);
    }),
  );
  underWay.set(server, answers);
  server.maxConnections = maxConnections;
  server.maxHeadersCount = 0; // past it Node leaves headers out without a word; `soundRequestsOnly` refuses
  return server;
}

/** Listens, or throws (`EADDRINUSE` and the like). */
export async function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  server.listen({ port, host, backlog });
  await once(server, 'listening');
  return server.address() as AddressInfo;
}

/** How long a connection that a client keeps has for one more request before it is cut. */
export const retireMs = 2_000;

/**
 * Ends the server without a request lost: for up to `retireForMs` every answer, those under way too, says
 * `Connection: close`, so that clients part with the connections they keep (RFC 9112, section 9.6: who cuts an idle one may
 * meet a request on its way); then takes no new connection, lets what is in flight end, and closes idle connections as they
 * fall idle.
 */
export async function drain(server: Server, retireForMs = retireMs): Promise<void> {
  if (!server.listening) return;
  await retireConnections(server, retireForMs);
  const closed = once(server, 'close');
  server.close();
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  server.closeIdleConnections();
  try {
    await closed;
  } finally {
    clearInterval(sweep);
  }
}

async function retireConnections(server: Server, forMs: number): Promise<void> {
  for (const response of underWay.get(server) ?? []) response.shouldKeepAlive = false;
  server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false;
  });
  const count = promisify(server.getConnections.bind(server));
  const deadline = performance.now() + forMs;
  while ((await count()) > 0 && performance.now() < deadline) await sleep(20);
}
