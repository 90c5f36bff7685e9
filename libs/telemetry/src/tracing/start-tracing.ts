import { basename, dirname } from 'node:path';
import { ProxyTracerProvider, type TextMapPropagator, trace } from '@opentelemetry/api';
import { CompositePropagator, W3CBaggagePropagator } from '@opentelemetry/core';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { traceRedis } from './command-spans.ts';
import { nameRequestOnSpans, RequestIdPropagator } from './request-id.ts';
import { unnamedPath } from './server-span.ts';
import { ContextManager, TraceContextPropagator } from './unsampled.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Starts the OpenTelemetry SDK. The standard `OTEL_*` variables set its exporters (OTLP over HTTP by default), sampler,
 * batching and resource. Metrics and logs have their own outputs, and are sent over OTLP only if `OTEL_METRICS_EXPORTER`
 * or `OTEL_LOGS_EXPORTER` asks for it. MongoDB's commands are traced by `connectMongo`, requests to the api by
 * `enterRequest`.
 */
export function startTracing(env: Environment, script: string): void {
  new NodeSDK({
    ...(isServiceNamed(env) ? {} : { serviceName: serviceNameOf(script) }),
    contextManager: new ContextManager(),
    textMapPropagator: createPropagator(env.OTEL_PROPAGATORS),
    instrumentations: [createOutgoing()],
    ...(env.OTEL_METRICS_EXPORTER ? {} : { metricReaders: [] }),
    ...(env.OTEL_LOGS_EXPORTER ? {} : { logRecordProcessors: [] }),
  }).start();
  traceRedis();
  const provider = trace.getTracerProvider();
  if (provider instanceof ProxyTracerProvider) provider.setDelegate(nameRequestOnSpans(provider.getDelegate()));
}

function isServiceNamed({ OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES }: Environment): boolean {
  return Boolean(OTEL_SERVICE_NAME) || (OTEL_RESOURCE_ATTRIBUTES ?? '').includes('service.name=');
}

/** Derives the service's name from its script: `services/api/src/main.ts` → `auth-api`. */
function serviceNameOf(script: string): string {
  return `auth-${basename(dirname(dirname(script))) || 'account'}`;
}

const makers: Readonly<Record<string, () => TextMapPropagator>> = {
  tracecontext: () => new TraceContextPropagator(),
  baggage: () => new W3CBaggagePropagator(),
};

/**
 * Returns the propagators that `OTEL_PROPAGATORS` names (`tracecontext`, `baggage` or `none`), together with the
 * propagator of the request id.
 */
function createPropagator(names: string | undefined): TextMapPropagator {
  const wanted = (names?.trim() || 'tracecontext,baggage').split(',').map((name) => name.trim());
  const named = wanted.includes('none') ? [] : wanted.map(createNamed);
  return new CompositePropagator({ propagators: [...named, new RequestIdPropagator()] });
}

function createNamed(name: string): TextMapPropagator {
  const make = makers[name];
  if (make === undefined) {
    throw new Error(
      `OTEL_PROPAGATORS: ${name} is not supported; supported are ${Object.keys(makers).join(', ')} and none`,
    );
  }
  return make();
}

/** Traces outgoing requests. No part of a path is recorded, because it may be a secret. */
function createOutgoing(): UndiciInstrumentation {
  return new UndiciInstrumentation({
    requireParentforSpans: true,
    requestHook: (span, { origin }) =>
      span.setAttributes({ 'url.full': origin, 'url.path': unnamedPath, 'url.query': '' }),
  });
}
