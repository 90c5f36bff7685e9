import { type Context, context, propagation, ROOT_CONTEXT } from '@opentelemetry/api';
import { presentSpan } from './unsampled.ts';

/** Part of a message that identifies the trace in which the message was sent. */
export interface TraceCarrier {
  readonly requestId: string;
  /** W3C trace context. */
  readonly traceparent?: string | undefined;
}

/** Returns the `traceparent` of the active span (W3C Trace Context, section 3.2), or undefined without tracing. */
export function activeTraceparent(): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** Returns the context for the work that a message causes. Without tracing, this is the present context. */
export function contextOf({ requestId, traceparent }: TraceCarrier): Context {
  return propagation.extract(ROOT_CONTEXT, { 'x-request-id': requestId, traceparent });
}

/**
 * Returns the headers that carry the trace in an outgoing request. Returns no headers within a trace, kept or not,
 * because the HTTP client's instrumentation sets these headers from its own span.
 */
export function carryingHeaders({ requestId, traceparent }: TraceCarrier): Record<string, string> {
  if (presentSpan() !== undefined) return {};
  return { 'X-Request-ID': requestId, ...(traceparent === undefined ? {} : { traceparent }) };
}
