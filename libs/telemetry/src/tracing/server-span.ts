import type { IncomingMessage, ServerResponse } from 'node:http';
import { context, propagation, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { setRequestId } from './request-id.ts';
import { serviceTracer } from './spans.ts';

/** A request that a server has begun to answer. */
export interface EnteredRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The request's `X-Request-ID`, sent by the client or generated. */
  readonly requestId: string;
}

/** Methods that the conventions name. Node accepts more methods. */
const knownMethods = new Set('CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' '));

/** Path that is recorded for a request without a route, because the raw path may contain an invite's token. */
export const unnamedPath = '/…';

/**
 * Runs a function in the context of the request, in a span that ends with the response (OpenTelemetry's semantic
 * conventions, "HTTP server span"). It replaces the HTTP and Express instrumentations. These bind every listener of
 * request and response and wrap each layer of the router, even if the trace is not kept.
 */
export function enterRequest({ request, response, requestId }: EnteredRequest, next: () => void): void {
  const parent = setRequestId(propagation.extract(ROOT_CONTEXT, request.headers), requestId);
  const { method = '' } = request;
  const isKnown = knownMethods.has(method);
  const attributes = {
    'http.request.method': isKnown ? method : '_OTHER',
    'url.scheme': 'http',
    'url.path': unnamedPath,
    'network.protocol.version': request.httpVersion,
  };
  const span = serviceTracer().startSpan(isKnown ? method : 'HTTP', { kind: SpanKind.SERVER, attributes }, parent);
  if (span.isRecording()) response.once('close', () => endSpan(span, response));
  context.with(trace.setSpan(parent, span), next);
}

/** Status of a request whose client left before the answer. The access log has the same status. */
const clientLeft = 499;

function endSpan(span: Span, { statusCode, writableFinished }: ServerResponse): void {
  const status = writableFinished ? statusCode : clientLeft;
  span.setAttribute('http.response.status_code', status);
  if (status >= 500) {
    span.setAttribute('error.type', String(status));
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** Binds a function to the present context. Use it for Node's events, which may come in another context or in none. */
export function inPresentContext<T>(run: T): T {
  return context.bind(context.active(), run);
}

/** Names the active span of a request after the template of its route, never after the raw path. */
export function nameActiveRoute(method: string, route: string): void {
  trace.getActiveSpan()?.updateName(`${method} ${route}`).setAttributes({ 'http.route': route, 'url.path': route });
}
