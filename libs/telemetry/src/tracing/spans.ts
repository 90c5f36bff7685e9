import {
  type Context,
  isSpanContextValid,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { presentSpan } from './unsampled.ts';

/** The project's tracer. Without the SDK it creates spans that do nothing. */
export function serviceTracer(): Tracer {
  return trace.getTracer('auth-account');
}

/**
 * Runs the work in a span of that name, and marks the span if the work fails. Only the class of the error is recorded,
 * because error messages of stores quote their input.
 */
export async function withSpan<T>(name: string, options: SpanOptions, run: (span: Span) => Promise<T>): Promise<T> {
  return await serviceTracer().startActiveSpan(name, options, async (span) => {
    try {
      return await run(span);
    } catch (error) {
      span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Runs synchronous work in a span of that name, as part of the trace of the context `parent`. */
export function inSpan<T>(name: string, options: SpanOptions, parent: Context, run: () => T): T {
  return serviceTracer().startActiveSpan(name, options, parent, (span) => {
    try {
      return run();
    } finally {
      span.end();
    }
  });
}

/** Returns the ids of the active span for log lines and exemplars, or nothing without tracing. */
export function activeTraceIds(): { readonly trace_id: string; readonly span_id: string } | Record<string, never> {
  const span = presentSpan()?.spanContext();
  if (span === undefined || !isSpanContextValid(span)) return {};
  return { trace_id: span.traceId, span_id: span.spanId };
}

/**
 * Returns the labels of an exemplar for an observation made now: the ids of the active span, if its trace is kept.
 * Otherwise returns nothing, because the link would lead nowhere.
 */
export function exemplarLabels(): Record<string, string> {
  const span = trace.getActiveSpan()?.spanContext();
  if (span === undefined || !isSpanContextValid(span) || !(span.traceFlags & TraceFlags.SAMPLED)) return {};
  return { trace_id: span.traceId, span_id: span.spanId };
}
