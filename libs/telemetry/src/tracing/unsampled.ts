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
 * Takes the active span out of a context if its trace is not kept, so that instrumentations which require one do nothing
 * at all: with one that records nothing they still read attributes from every command, which costs as much as a span
 * that is kept. The trace's id and the decision not to keep it are carried on all the same. A span of another process
 * stays: whether its trace is kept here, the sampler decides.
 */
function hideUnsampled(from: Context): Context {
  const span = trace.getSpan(from);
  if (span === undefined || span.isRecording()) return from;
  const spanContext = span.spanContext();
  const isSampled = Boolean(spanContext.traceFlags & TraceFlags.SAMPLED);
  // An invalid one stands for no span: what is begun below it is a trace of its own.
  if (spanContext.isRemote || isSampled || !isSpanContextValid(spanContext)) return from;
  return trace.deleteSpan(from).setValue(unsampledKey, spanContext);
}

/**
 * Returns a span that records nothing, if {@link hideUnsampled} has taken one out of the context and no other has come in:
 * clients' instrumentations that require a parent put an invalid one in the place of their own.
 */
export function unsampledSpan(from: Context): Span | undefined {
  const hidden = from.getValue(unsampledKey) as SpanContext | undefined;
  if (hidden === undefined) return undefined;
  const active = trace.getSpanContext(from);
  return active !== undefined && isSpanContextValid(active) ? undefined : trace.wrapSpanContext(hidden);
}

/** Returns the span of the present work, whether or not its trace is kept; undefined without a trace. */
export function presentSpan(): Span | undefined {
  const active = context.active();
  return trace.getSpan(active) ?? unsampledSpan(active);
}

/** The SDK's context manager. A function that it runs never finds a span of a trace that is not kept active. */
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

/** The W3C propagator, also for traces that are not kept: other processes don't keep their part of them either. */
export class TraceContextPropagator extends W3CTraceContextPropagator {
  override inject(...[context, ...rest]: Parameters<W3CTraceContextPropagator['inject']>): void {
    const span = unsampledSpan(context);
    super.inject(span === undefined ? context : trace.setSpan(context, span), ...rest);
  }
}
