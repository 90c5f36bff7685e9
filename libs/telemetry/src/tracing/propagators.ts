import type { TextMapPropagator } from '@opentelemetry/api';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { RequestIdPropagator } from './request-id-propagator.ts';

const makers: Readonly<Record<string, () => TextMapPropagator>> = {
  tracecontext: () => new W3CTraceContextPropagator(),
  baggage: () => new W3CBaggagePropagator(),
};

/** The propagators that `OTEL_PROPAGATORS` names (`tracecontext`, `baggage` or `none`), and always the request id's. */
export function createPropagator(names: string | undefined): TextMapPropagator {
  const wanted = (names?.trim() || 'tracecontext,baggage').split(',').map((name) => name.trim());
  const named = wanted.includes('none') ? [] : wanted.map(createNamed);
  return new CompositePropagator({ propagators: [...named, new RequestIdPropagator()] });
}

function createNamed(name: string): TextMapPropagator {
  const make = makers[name];
  if (make === undefined) {
    throw new Error(`OTEL_PROPAGATORS: ${name} is not supported; there are ${Object.keys(makers).join(', ')} and none`);
  }
  return make();
}
