import {
  type Context,
  context,
  createContextKey,
  isSpanContextValid,
  type Span,
  type SpanContext,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';

const unsampledKey = createContextKey('auth-account.unsampled');

/**
 * Takes the active span out of a context if its trace is not kept, so that instrumentations that require a span do
 * nothing. With a span that records nothing, the instrumentations would still read attributes from every command, which
 * costs as much as a kept span. The trace's id and the decision not to keep it are still passed on. A span of another
 * process stays, because this process's sampler decides whether the trace is kept here.
 */
function hideUnsampled(from: Context): Context {
  const span = trace.getSpan(from);
  if (span === undefined || span.isRecording()) return from;
  const spanContext = span.spanContext();
  const isSampled = Boolean(spanContext.traceFlags & TraceFlags.SAMPLED);
  // An invalid span context means that there is no span. A span that begins below it starts a new trace.
  if (spanContext.isRemote || isSampled || !isSpanContextValid(spanContext)) return from;
  return trace.deleteSpan(from).setValue(unsampledKey, spanContext);
}

/**
 * Returns a span that records nothing, if {@link hideUnsampled} has taken a span out of the context and no valid span
 * has come in since. (If a client's instrumentation requires a parent and finds none, it sets an invalid span instead
 * of its own.)
 */
export function unsampledSpan(from: Context): Span | undefined {
  const hidden = from.getValue(unsampledKey) as SpanContext | undefined;
  if (hidden === undefined) return undefined;
  const active = trace.getSpanContext(from);
  return active !== undefined && isSpanContextValid(active) ? undefined : trace.wrapSpanContext(hidden);
}

/** Returns the span of the present work, even if its trace is not kept. Returns undefined without a trace. */
export function presentSpan(): Span | undefined {
  const active = context.active();
  return trace.getSpan(active) ?? unsampledSpan(active);
}

/**
 * The SDK's context manager, changed so that a function that it runs never sees an active span whose trace is not kept.
 */
export class ContextManager extends AsyncLocalStorageContextManager {
  override with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    run: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return super.with(hideUnsampled(context), run, thisArg, ...args);
  }
}

/**
 * The W3C propagator. It also propagates traces that are not kept, so that other processes don't keep their parts of
 * these traces.
 */
export class TraceContextPropagator extends W3CTraceContextPropagator {
  override inject(...[context, ...rest]: Parameters<W3CTraceContextPropagator['inject']>): void {
    const span = unsampledSpan(context);
    super.inject(span === undefined ? context : trace.setSpan(context, span), ...rest);
  }
}
