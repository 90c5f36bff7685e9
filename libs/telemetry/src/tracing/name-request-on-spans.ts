import { type Context, context, type SpanOptions, type Tracer, type TracerProvider } from '@opentelemetry/api';
import { findRequestId } from './request-id-context.ts';

/** The attribute that every span of a request bears. */
export const requestIdAttribute = 'request.id';

/**
 * A tracer provider whose spans bear the request id of their context. (A span processor could do the same, but naming
 * one to the SDK switches off those that it makes from the environment.)
 */
export function nameRequestOnSpans<P extends TracerProvider>(provider: P): P {
  const getTracer: TracerProvider['getTracer'] = (...args) => named(provider.getTracer(...args));
  return Object.create(provider, { getTracer: { value: getTracer } });
}

/** `startActiveSpan` of the SDK's tracer calls `startSpan` on `this`, and so this one. */
function named(tracer: Tracer): Tracer {
  function startSpan(name: string, options: SpanOptions = {}, parent: Context = context.active()) {
    const requestId = findRequestId(parent);
    if (requestId === undefined) return tracer.startSpan(name, options, parent);
    const attributes = { ...options.attributes, [requestIdAttribute]: requestId };
    return tracer.startSpan(name, { ...options, attributes }, parent);
  }
  return Object.create(tracer, { startSpan: { value: startSpan } });
}
