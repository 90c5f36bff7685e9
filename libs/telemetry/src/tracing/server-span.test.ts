import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  context,
  INVALID_SPAN_CONTEXT,
  type ProxyTracerProvider,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { nameRequestOnSpans } from './request-id.ts';
import { enterRequest, nameActiveRoute } from './server-span.ts';
import { activeTraceIds, withSpan } from './spans.ts';
import { activeTraceparent } from './trace-carrier.ts';
import { ContextManager, TraceContextPropagator } from './unsampled.ts';

type Processor = NonNullable<NonNullable<ConstructorParameters<typeof NodeSDK>[0]>['spanProcessors']>[number];
type EndedSpan = Parameters<Processor['onEnd']>[0];

const ended: EndedSpan[] = [];
const collecting: Processor = {
  onStart: () => undefined,
  onEnd: (span) => ended.push(span),
  forceFlush: async () => undefined,
  shutdown: async () => undefined,
};
const sdk = new NodeSDK({
  spanProcessors: [collecting],
  contextManager: new ContextManager(),
  textMapPropagator: new TraceContextPropagator(),
  instrumentations: [],
  metricReaders: [],
  logRecordProcessors: [],
});
let server: Server;
let answer: (res: ServerResponse) => unknown;

beforeAll(async () => {
  sdk.start();
  const provider = trace.getTracerProvider() as ProxyTracerProvider;
  provider.setDelegate(nameRequestOnSpans(provider.getDelegate()));
  server = createServer((request, response) => {
    enterRequest({ request, response, requestId: 'phone-1' }, () => {
      nameActiveRoute('GET', '/items/:id');
      void withSpan('work', {}, async () => answer(response));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  await sdk.shutdown();
  // These settings belong to the process, which runs other files' tests afterwards.
  for (const api of [trace, context, propagation]) api.disable();
});
beforeEach(() => {
  ended.length = 0;
});

const port = () => (server.address() as AddressInfo).port;
const get = (headers: Record<string, string> = {}) => fetch(`http://127.0.0.1:${port()}/items/secret`, { headers });

/** Returns the spans by name, once the request's span has ended. */
async function spans(): Promise<Map<string, EndedSpan>> {
  while (!ended.some(({ kind }) => kind === SpanKind.SERVER)) await setImmediate();
  return new Map(ended.map((span) => [span.name, span]));
}

test('a request is a span with its route, status and id, and the parent of all its work', async () => {
  answer = (res) => res.writeHead(201).end();
  await get();
  const found = await spans();
  const [own, work] = [found.get('GET /items/:id'), found.get('work')];
  expect(own?.attributes).toMatchObject({
    ...{ 'http.request.method': 'GET', 'http.route': '/items/:id', 'url.path': '/items/:id' },
    ...{ 'http.response.status_code': 201, 'request.id': 'phone-1' },
  });
  expect(own?.status.code).toBe(SpanStatusCode.UNSET);
  expect(work?.parentSpanContext?.spanId).toBe(own?.spanContext().spanId);
  expect(work?.attributes['request.id']).toBe('phone-1');
  expect(JSON.stringify(own?.attributes)).not.toContain('secret');
});

test('a request without a span begins a trace', () => {
  const noSpan = trace.setSpan(context.active(), trace.wrapSpanContext(INVALID_SPAN_CONTEXT));
  const begun = context.with(noSpan, () => trace.getTracer('other').startSpan('first'));
  expect(begun.isRecording()).toBe(true);
});

test('an unknown method is recorded as _OTHER', async () => {
  answer = (res) => res.end();
  await fetch(`http://127.0.0.1:${port()}/items/secret`, { method: 'PROPFIND' });
  expect((await spans()).get('GET /items/:id')?.attributes['http.request.method']).toBe('_OTHER');
});

test('an answer of 5xx is an error', async () => {
  answer = (res) => res.writeHead(503).end();
  await get();
  const own = (await spans()).get('GET /items/:id');
  expect(own?.status.code).toBe(SpanStatusCode.ERROR);
  expect(own?.attributes).toMatchObject({ 'http.response.status_code': 503, 'error.type': '503' });
});

test('a request whose client left has the status of its access line', async () => {
  const socket = connect(port(), '127.0.0.1');
  answer = () => socket.destroy();
  socket.write('GET /items/secret HTTP/1.1\r\nHost: here\r\n\r\n');
  const own = (await spans()).get('GET /items/:id');
  expect(own?.attributes['http.response.status_code']).toBe(499);
  expect(own?.status.code).toBe(SpanStatusCode.UNSET);
});

test('an unsampled trace has no active span and no children, and is passed on as unsampled', async () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const seen: unknown[] = [];
  answer = (res) => {
    // A client's instrumentation that creates no span sets such a context.
    const noSpan = trace.setSpan(context.active(), trace.wrapSpanContext(INVALID_SPAN_CONTEXT));
    const ids = [activeTraceIds().span_id, trace.getTracer('other').startSpan('by a library').spanContext().spanId];
    seen.push(trace.getActiveSpan(), activeTraceparent(), context.with(noSpan, activeTraceparent), new Set(ids).size);
    trace.getTracer('other').startSpan('of its own', { root: true }).end();
    res.end();
  };
  await get({ traceparent: `00-${traceId}-b7ad6b7169203331-00` });
  const unkept = expect.stringMatching(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  expect(seen).toEqual([undefined, unkept, unkept, 1]);
  answer = (res) => res.end();
  await get();
  await spans();
  expect(ended.map(({ name }) => name).toSorted()).toEqual(['GET /items/:id', 'of its own', 'work']);
});
