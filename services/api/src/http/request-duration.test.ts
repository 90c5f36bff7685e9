import { createMetrics } from '@auth-account/telemetry';
import { expect, test } from '@jest/globals';
import { createRequestDuration } from './request-duration.ts';

test('a route has its successes and server failures at zero before its first request', async () => {
  const { registry, render } = createMetrics({ service: 'api' });
  createRequestDuration(registry);
  const { body } = await render(undefined);
  const ofRoute = body.matchAll(/^http_request_duration_seconds_count\{(.*route="\/api\/v1\/groups\/leave".*)\} 0$/gm);
  const statuses = Array.from(ofRoute, ([, labels]) => /status="(\d+)"/.exec(labels ?? '')?.[1]);
  expect(statuses).toEqual(['200', '500', '503']);
});
