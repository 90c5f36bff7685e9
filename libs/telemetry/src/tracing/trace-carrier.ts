import { type Context, context, propagation, ROOT_CONTEXT } from '@opentelemetry/api';
import { presentSpan } from './unsampled.ts';

/** Part of a message that carries the trace in which it was sent. */
export interface TraceCarrier {
  readonly requestId: string;
  /** W3C trace context. */
  readonly traceparent?: string | undefined;
}

/** Returns the `traceparent` of the active span (W3C Trace Context, section 3.2); undefined without tracing. */
export function activeTraceparent(): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** Returns the context for work that a message causes; without tracing, the present one. */
export function contextOf({ requestId, traceparent }: TraceCarrier): Context {
  return propagation.extract(ROOT_CONTEXT, { 'x-request-id': requestId, traceparent });
}

/**
 * Returns the headers of an outgoing request that carry the trace. Within a trace, kept or not, there are none to set: the
 * instrumentation of the HTTP client sets them, and names its own span.
 */
export function carryingHeaders({ requestId, traceparent }: TraceCarrier): Record<string, string> {
  if (presentSpan() !== undefined) return {};
  return { 'X-Request-ID': requestId, ...(traceparent === undefined ? {} : { traceparent }) };
}
