import { isSpanContextValid, TraceFlags, trace } from '@opentelemetry/api';

/**
 * Labels of an exemplar for what is observed now: the ids of the active span where its trace is kept. Nothing without
 * tracing, and nothing of a trace that was not sampled: it would lead nowhere.
 */
export function exemplarLabels(): Record<string, string> {
  const span = trace.getActiveSpan()?.spanContext();
  if (span === undefined || !isSpanContextValid(span) || !(span.traceFlags & TraceFlags.SAMPLED)) return {};
  return { trace_id: span.traceId, span_id: span.spanId };
}
