import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as received over OTLP. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 2: error. */
  readonly statusCode: number;
}

export interface OtlpReceiver {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`, with the protocol `http/json`. */
  readonly url: string;
  spans(): readonly ReceivedSpan[];
  /** Returns every request body as received. */
  raw(): string;
  /** Resolves with the spans once `isThere` returns true for them. Throws after `timeoutMs`. */
  waitFor(isThere: (spans: readonly ReceivedSpan[]) => boolean, timeoutMs?: number): Promise<readonly ReceivedSpan[]>;
  close(): Promise<void>;
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes?: readonly KeyValue[];
  readonly status?: { readonly code?: number };
}

interface OtlpTraces {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans?: readonly { readonly spans?: readonly OtlpSpan[] }[];
  }[];
}

/**
 * Starts a receiver of traces over OTLP/HTTP (OTLP specification, "OTLP/HTTP"). It keeps traces that are sent as JSON;
 * with `keep: false` it accepts any encoding and keeps nothing.
 */
export async function startOtlpReceiver({ keep = true }: { readonly keep?: boolean } = {}): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const server = createServer((req, res) => {
    readBody(req).then(
      (body) => {
        if (keep) bodies.push(body);
        if (keep && req.url === '/v1/traces') spans.push(...spansOf(JSON.parse(body)));
        res.setHeader('Content-Type', 'application/json').end('{}');
      },
      () => res.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => spans,
    raw: () => bodies.join('\n'),
    async waitFor(isThere, timeoutMs = 60_000) {
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
      new Promise((resolve) => {
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

function spansOf({ resourceSpans = [] }: OtlpTraces): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }) => {
    const service = String(attributesOf(resource?.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans = [] }) => spans.map((span) => received(span, service)));
  });
}

function received(
  { name, traceId, spanId, parentSpanId, attributes, status }: OtlpSpan,
  service: string,
): ReceivedSpan {
  return {
    service,
    name,
    traceId,
    spanId,
    parentSpanId: parentSpanId || undefined,
    attributes: attributesOf(attributes),
    statusCode: status?.code ?? 0,
  };
}

function attributesOf(list: readonly KeyValue[] = []): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));
}
