import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rejectMalformedRequests } from '@auth-account/lifecycle';

const limits = { maxHeaderSize: 16 * 1024, headersTimeout: 10_000, requestTimeout: 15_000 };
const maxConnections = 1_000;

export interface HttpServer {
  /** Listens on every address of the system if there is no `host`. Throws `EADDRINUSE` and others. */
  listen(port: number, host: string | undefined): Promise<AddressInfo>;
  /** Accepts no more connections, and lets requests under way end, for `graceMs` at most. */
  close(graceMs: number): Promise<void>;
}

/** Creates an HTTP/1.1 server for few clients, with explicit limits. */
export function createHttpServer(listener: RequestListener): HttpServer {
  const server = createServer(limits, rejectMalformedRequests(listener));
  server.maxConnections = maxConnections;
  server.maxHeadersCount = 0; // above a limit Node drops headers silently; `rejectMalformedRequests` refuses
  return {
    async listen(port, host) {
      server.listen({ port, host });
      await once(server, 'listening');
      return server.address() as AddressInfo;
    },
    async close(graceMs) {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed.finally(() => clearTimeout(cut));
    },
  };
}
