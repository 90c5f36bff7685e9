import { routes } from '@auth-account/contracts';
import type { Metrics } from '@auth-account/telemetry';
import { Histogram } from 'prom-client';
import type { RequestLabels } from './middleware/observe-request.ts';

/**
 * Creates the histogram of request durations. The success status, 500 and 503 of each operation start at zero, so that
 * even a route's first response with status 500 counts against the error budget.
 */
export function createRequestDuration(registry: Metrics['registry']): Histogram<RequestLabels> {
  const duration = new Histogram<RequestLabels>({
    name: 'http_request_duration_seconds',
    help: 'Duration of HTTP requests by route template; status 499 if the client went away before its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    enableExemplars: true,
    registers: [registry],
  });
  for (const { method, path, success } of Object.values(routes)) {
    for (const status of [success.status, 500, 503]) {
      duration.zero({ method: method.toUpperCase(), route: path, status });
    }
  }
  return duration;
}
