import { isSpanContextValid, trace } from '@opentelemetry/api';

/** Ids of the active span, for log lines and exemplars; nothing without tracing. */
export function activeTraceIds(): { readonly trace_id: string; readonly span_id: string } | Record<string, never> {
  const span = trace.getActiveSpan()?.spanContext();
  if (span === undefined || !isSpanContextValid(span)) return {};
  return { trace_id: span.traceId, span_id: span.spanId };
}
