import { register } from 'node:module';
import { basename, dirname } from 'node:path';
import { ProxyTracerProvider, type TextMapPropagator, trace } from '@opentelemetry/api';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import type { Instrumentation } from '@opentelemetry/instrumentation';
import { ExpressInstrumentation, ExpressLayerType } from '@opentelemetry/instrumentation-express';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { MongoDBInstrumentation } from '@opentelemetry/instrumentation-mongodb';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { nameRequestOnSpans, RequestIdPropagator } from './request-id.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Starts the OpenTelemetry SDK as the standard `OTEL_*` variables say: exporters (OTLP over HTTP by default), sampler,
 * batching, resource. It must run before the modules that it instruments are loaded. Metrics and logs have ways of
 * their own and go over OTLP only if `OTEL_METRICS_EXPORTER` or `OTEL_LOGS_EXPORTER` ask for it.
 */
export function startTracing(env: Environment, script: string): void {
  // Modules of the ECMAScript kind are patched by a loader hook; without it nothing is, and nobody says so.
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url);
  new NodeSDK({
    ...(isServiceNamed(env) ? {} : { serviceName: serviceNameOf(script) }),
    textMapPropagator: createPropagator(env.OTEL_PROPAGATORS),
    instrumentations: createInstrumentations(),
    ...(env.OTEL_METRICS_EXPORTER ? {} : { metricReaders: [] }),
    ...(env.OTEL_LOGS_EXPORTER ? {} : { logRecordProcessors: [] }),
  }).start();
  const provider = trace.getTracerProvider();
  if (provider instanceof ProxyTracerProvider) provider.setDelegate(nameRequestOnSpans(provider.getDelegate()));
}

function isServiceNamed({ OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES }: Environment): boolean {
  return Boolean(OTEL_SERVICE_NAME) || (OTEL_RESOURCE_ATTRIBUTES ?? '').includes('service.name=');
}

/** `services/api/src/main.ts` → `auth-api`. */
function serviceNameOf(script: string): string {
  return `auth-${basename(dirname(dirname(script))) || 'account'}`;
}

const makers: Readonly<Record<string, () => TextMapPropagator>> = {
  tracecontext: () => new W3CTraceContextPropagator(),
  baggage: () => new W3CBaggagePropagator(),
};

/** The propagators that `OTEL_PROPAGATORS` names (`tracecontext`, `baggage` or `none`), and always the request id's. */
function createPropagator(names: string | undefined): TextMapPropagator {
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

/** Paths of the ops server, which probes and scrapes ask for all day. */
const opsPaths = new Set(['/livez', '/readyz', '/metrics']);

/**
 * Instead of a raw path, which may hold an invite's token (the api names the route's template over it) or a webhook's
 * secret.
 */
const unnamedPath = '/…';

/**
 * Creates the instrumentations, which trace without a line in the services. Of commands and statements only their names
 * are noted, of paths and addresses nothing that a secret may stand in.
 */
function createInstrumentations(): Instrumentation[] {
  return [
    new HttpInstrumentation({
      ignoreIncomingRequestHook: ({ url }) => opsPaths.has(url ?? ''),
      requireParentforOutgoingSpans: true,
      requestHook: (span) => span.setAttributes({ 'url.path': unnamedPath, 'url.query': '' }),
    }),
    new UndiciInstrumentation({
      requireParentforSpans: true,
      requestHook: (span, { origin }) =>
        span.setAttributes({ 'url.full': origin, 'url.path': unnamedPath, 'url.query': '' }),
    }),
    new ExpressInstrumentation({ ignoreLayersType: [ExpressLayerType.MIDDLEWARE, ExpressLayerType.ROUTER] }),
    new MongoDBInstrumentation({
      requireParentSpan: true,
      dbStatementSerializer: (command) => Object.keys(command)[0] ?? '',
    }),
    new IORedisInstrumentation({ requireParentSpan: true, dbStatementSerializer: (command) => command }),
  ];
}
