import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Longer than a load balancer keeps an idle connection (60 s at the usual ones), so that it is never the first to close. */
const keepAliveTimeoutMs = 65_000;

/** Connections that the kernel may hold for us; a burst past it costs its clients a second of TCP's own retry. */
const backlog = 4_096;

/** An HTTP/1.1 server with explicit limits: slow and oversized requests end, whoever sends them. */
export function createHttpServer(listener: RequestListener): Server {
  return createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 20_000,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: 5_000,
    },
    listener,
  );
}

/** Listens, or throws (`EADDRINUSE` and the like). */
export async function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  server.listen({ port, host, backlog });
  await once(server, 'listening');
  return server.address() as AddressInfo;
}

/** Takes no new connection, lets what is in flight end, and closes idle connections as they fall idle. */
export async function drain(server: Server): Promise<void> {
  if (!server.listening) return;
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
