import { type Context, createContextKey, type Span, type SpanContext, TraceFlags, trace } from '@opentelemetry/api';

const unsampledKey = createContextKey('auth-account.unsampled');

/**
 * Takes the active span out of a context if its trace is not kept, so that instrumentations which require one do nothing
 * at all: with one that records nothing they still read attributes from every command, which costs as much as a span
 * that is kept. The trace's id and the decision not to keep it are carried on all the same. A span of another process
 * stays: whether its trace is kept here, the sampler decides.
 */
export function hideUnsampled(context: Context): Context {
  const span = trace.getSpan(context);
  if (span === undefined || span.isRecording()) return context;
  const { isRemote, traceFlags } = span.spanContext();
  if (isRemote || traceFlags & TraceFlags.SAMPLED) return context;
  return trace.deleteSpan(context).setValue(unsampledKey, span.spanContext());
}

/** Returns a span that records nothing, if {@link hideUnsampled} has taken one out of the context. */
export function unsampledSpan(context: Context): Span | undefined {
  const span = context.getValue(unsampledKey) as SpanContext | undefined;
  return span === undefined || trace.getSpan(context) !== undefined ? undefined : trace.wrapSpanContext(span);
}
