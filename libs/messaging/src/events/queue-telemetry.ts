import { ProxyTracerProvider, trace } from '@opentelemetry/api';
import type { JobsOptions } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';

/**
 * BullMQ's option to carry traces in its jobs; nothing where the process is not traced, so that jobs stay as small and as
 * quick as they are without.
 */
export function queueTelemetry(): { readonly telemetry?: BullMQOtel } {
  return isTraced() ? { telemetry: new BullMQOtel({ tracerName: 'bullmq' }) } : {};
}

/** Options that put a job into another trace than that of whoever adds it. */
export function jobTrace(requestId: string, traceparent: string | undefined): Pick<JobsOptions, 'telemetry'> {
  if (traceparent === undefined || !isTraced()) return {};
  return { telemetry: { metadata: JSON.stringify({ 'x-request-id': requestId, traceparent }) } };
}

function isTraced(): boolean {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider && 'shutdown' in provider.getDelegate();
}
