import type { Instrumentation } from '@opentelemetry/instrumentation';
import { ExpressInstrumentation, ExpressLayerType } from '@opentelemetry/instrumentation-express';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { MongoDBInstrumentation } from '@opentelemetry/instrumentation-mongodb';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';

/** Paths of the ops server, which probes and scrapes ask for all day. */
const opsPaths = new Set(['/livez', '/readyz', '/metrics']);

/** Instead of a raw path, which may hold an invite's token (the api names the route's template over it) or a webhook's secret. */
const unnamedPath = '/…';

/**
 * What is traced without a line in the services. Of commands and statements only their names are noted, of paths and
 * addresses nothing that a secret may stand in.
 */
export function createInstrumentations(): Instrumentation[] {
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
