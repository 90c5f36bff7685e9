import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger, Metrics } from '@auth-account/telemetry';
import { rejectMalformedRequests } from './reject-malformed-requests.ts';
import { type Check, runChecks } from './run-checks.ts';

export interface OpsServerOptions {
  /** Every IP address of the system by default. */
  readonly host: string | undefined;
  /** Port; 0 for any free port. */
  readonly port: number;
  /** Called at each `/readyz`, so that checks may be added and removed. */
  readonly checks: () => readonly Check[];
  readonly metrics: Pick<Metrics, 'render'>;
  readonly logger: Logger;
}

export interface OpsServer {
  /** Resolves with the address once the server listens; rejects if it can't (`EADDRINUSE`). */
  listen(): Promise<AddressInfo>;
  /** Stops accepting requests, gives running requests 1 s to end, and closes every connection. */
  close(): Promise<void>;
}

type Answer = { readonly status: number; readonly type: string; readonly body: string };
type Route = (request: IncomingMessage) => Answer | Promise<Answer>;

/** Limit for connections. Probes and scrapers need only a few. A connection that sends nothing is closed after 5 s. */
const maxConnections = 1_000;

const json = (status: number, value: unknown): Answer => ({
  status,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
});

function createRoutes({ checks, metrics }: OpsServerOptions): ReadonlyMap<string, Route> {
  return new Map<string, Route>([
    ['/livez', () => json(200, { ok: true })],
    [
      '/readyz',
      async () => {
        const reports = await runChecks(checks());
        const ok = reports.every((report) => report.ok);
        return json(ok ? 200 : 503, { ok, checks: reports });
      },
    ],
    [
      '/metrics',
      async (request) => {
        const { contentType, body } = await metrics.render(request.headers.accept);
        return { status: 200, type: contentType, body };
      },
    ],
  ]);
}

function send(request: IncomingMessage, response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
    // The connection closes, because a refused request may have a body that is never read.
    ...(status === 404 || status === 405 ? { connection: 'close' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/**
 * Creates the server for probes and metrics: `/livez` (200 as long as the event loop runs), `/readyz` (each check's
 * name, ok and reason; 503 if any fails) and `/metrics`. It is for the cluster only, because it does not authenticate
 * its callers.
 */
export function createOpsServer(options: OpsServerOptions): OpsServer {
  const { host, port, logger } = options;
  const routes = createRoutes(options);

  async function answer(request: IncomingMessage): Promise<Answer> {
    const route = routes.get((request.url ?? '').split('?')[0] ?? '');
    if (!route) return json(404, { error: 'not found' });
    if (request.method !== 'GET' && request.method !== 'HEAD') return json(405, { error: 'method not allowed' });
    try {
      return await route(request);
    } catch (error) {
      logger.error({ err: error, url: request.url }, 'ops request failed');
      return json(500, { error: 'internal error' });
    }
  }

  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 5_000,
      requestTimeout: 5_000,
      keepAliveTimeout: 5_000,
      connectionsCheckingInterval: 1_000,
    },
    rejectMalformedRequests(
      (request, response) => void answer(request).then((result) => send(request, response, result)),
    ),
  );
  server.maxConnections = maxConnections;
  server.maxHeadersCount = 0; // past a limit Node drops headers silently; `rejectMalformedRequests` refuses the request
  server.setTimeout(10_000); // limit for a connection without traffic in either direction

  return {
    listen() {
      const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>();
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve(server.address() as AddressInfo);
      });
      return promise;
    },
    close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(() => server.closeAllConnections(), 1_000);
      server.close(() => {
        clearTimeout(timer);
        resolve(); // `close` fails only if the server did not listen; then there is nothing to close
      });
      return promise;
    },
  };
}
