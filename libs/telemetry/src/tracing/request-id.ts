import {
  type Context,
  context,
  createContextKey,
  type SpanOptions,
  type TextMapGetter,
  type TextMapPropagator,
  type TextMapSetter,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';
import { unsampledSpan } from './unsampled.ts';

const requestIdKey = createContextKey('auth-account.request-id');

/**
 * Returns a context for the request. Every span that begins in the context, and every message sent from it, has the
 * request's id.
 */
export function setRequestId(context: Context, requestId: string): Context {
  return context.setValue(requestIdKey, requestId);
}

/** Returns the `X-Request-ID` of the request that the context belongs to. */
function findRequestId(context: Context): string | undefined {
  return context.getValue(requestIdKey) as string | undefined;
}

/** Attribute that every span of a request has. */
const requestIdAttribute = 'request.id';

/**
 * Number of the span in its process. It shows the order of spans, because the SDK records start times in whole
 * milliseconds, and several statements may begin in the same millisecond.
 */
const sequenceAttribute = 'span.sequence';

/**
 * Changes a tracer provider so that no span begins in a trace that is not kept, and each span has the request id of its
 * context and a number for the order. (A span processor could record the id, but passing a processor to the SDK turns
 * off the processors that the SDK creates from the environment.)
 */
export function nameRequestOnSpans<P extends TracerProvider>(provider: P): P {
  let begun = 0;
  const next = () => (begun += 1);
  const getTracer: TracerProvider['getTracer'] = (...args) => named(provider.getTracer(...args), next);
  return Object.create(provider, { getTracer: { value: getTracer } });
}

/**
 * Returns a tracer with this `startSpan`. The SDK's `startActiveSpan` calls `startSpan` on `this`, so it uses the given
 * `startSpan` too.
 */
function named(tracer: Tracer, next: () => number): Tracer {
  function startSpan(name: string, options: SpanOptions = {}, parent: Context = context.active()) {
    const unsampled = unsampledSpan(parent);
    if (unsampled !== undefined && !options.root) return unsampled;
    const requestId = findRequestId(parent);
    if (requestId === undefined) return tracer.startSpan(name, options, parent);
    const attributes = { ...options.attributes, [requestIdAttribute]: requestId, [sequenceAttribute]: next() };
    return tracer.startSpan(name, { ...options, attributes }, parent);
  }
  return Object.create(tracer, { startSpan: { value: startSpan } });
}

const field = 'x-request-id';
/** Ids that the contract allows (docs/specification/requests.md, "Headers"); any other id is dropped. */
const allowed = /^[A-Za-z0-9._~:/+=-]{1,128}$/;

/**
 * Carries `X-Request-ID` along with the trace context, in outgoing HTTP requests, in BullMQ jobs and in messages over
 * Redis.
 */
export class RequestIdPropagator implements TextMapPropagator {
  inject(context: Context, carrier: unknown, setter: TextMapSetter): void {
    const requestId = findRequestId(context);
    if (requestId !== undefined) setter.set(carrier, field, requestId);
  }

  extract(context: Context, carrier: unknown, getter: TextMapGetter): Context {
    const value = getter.get(carrier, field);
    return typeof value === 'string' && allowed.test(value) ? setRequestId(context, value) : context;
  }

  fields(): string[] {
    return [field];
  }
}
