import { trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { unsampledSpan } from './unsampled.ts';

/** The W3C propagator, also for traces that are not kept: other processes don't keep their part of them either. */
export class TraceContextPropagator extends W3CTraceContextPropagator {
  override inject(...[context, ...rest]: Parameters<W3CTraceContextPropagator['inject']>): void {
    const span = unsampledSpan(context);
    super.inject(span === undefined ? context : trace.setSpan(context, span), ...rest);
  }
}
