import { register } from 'node:module';
import { basename, dirname } from 'node:path';
import { ProxyTracerProvider, trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { createInstrumentations } from './instrumentations.ts';
import { nameRequestOnSpans } from './name-request-on-spans.ts';
import { createPropagator } from './propagators.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Starts the OpenTelemetry SDK as the standard `OTEL_*` variables say: exporters (OTLP over HTTP by default), sampler,
 * batching, resource. It must run before the modules that it instruments are loaded. Metrics and logs have ways of their
 * own and go over OTLP only where `OTEL_METRICS_EXPORTER` or `OTEL_LOGS_EXPORTER` ask for it.
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
