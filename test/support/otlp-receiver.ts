import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readOtlpSpans, type Span } from '@auth-account/playground/otlp-spans';

export type OtlpReceiver = Awaited<ReturnType<typeof startOtlpReceiver>>;

/**
 * Starts a receiver of traces over OTLP/HTTP (opentelemetry.io/docs/specs/otlp). It keeps traces that are sent as JSON;
 * with `keep: false` it accepts any encoding and keeps nothing.
 */
export async function startOtlpReceiver({ keep = true } = {}) {
  const spans: Span[] = [];
  const bodies: string[] = [];
  const server = createServer((req, res) => {
    readBody(req).then(
      (body) => {
        if (keep) bodies.push(body);
        if (keep && req.url === '/v1/traces') spans.push(...readOtlpSpans(body));
        res.setHeader('Content-Type', 'application/json').end('{}');
      },
      () => res.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    /** For `OTEL_EXPORTER_OTLP_ENDPOINT`, with the protocol `http/json`. */
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: (): readonly Span[] => spans,
    /** Returns every request body as received. */
    raw: () => bodies.join('\n'),
    /** Resolves with the spans once `isThere` returns true for them. Throws after `timeoutMs`. */
    async waitFor(isThere: (spans: readonly Span[]) => boolean, timeoutMs = 60_000): Promise<readonly Span[]> {
      const deadline = performance.now() + timeoutMs;
      while (!isThere(spans)) {
        if (performance.now() > deadline) {
          throw new Error(`the spans did not arrive; received: ${spans.map(({ name }) => name).join(', ')}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return spans;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(req: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of req.setEncoding('utf8')) body += chunk;
  return body;
}
