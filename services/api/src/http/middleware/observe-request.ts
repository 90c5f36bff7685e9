import { exemplarLabels, inPresentContext, type Logger } from '@auth-account/telemetry';
import type { RequestHandler } from 'express';
import type { Histogram } from 'prom-client';
import { contextOf } from '../request-context.ts';

/** Labels of the request duration. */
export type RequestLabels = 'method' | 'route' | 'status';

/**
 * Measures each request and writes its line in the access log. The line has the route's template, because the raw path
 * may hold a token.
 */
export function observeRequest(logger: Logger, duration: Pick<Histogram<RequestLabels>, 'observe'>): RequestHandler {
  return (req, res, next) => {
    const start = performance.now();
    const observe = () => {
      const seconds = (performance.now() - start) / 1_000;
      const { requestId, route = 'none' } = contextOf(res);
      // 499 means that the client left before its answer.
      const status = res.writableFinished ? res.statusCode : 499;
      duration.observe({
        labels: { method: req.method, route, status },
        value: seconds,
        exemplarLabels: exemplarLabels(),
      });
      logger.info(
        { request_id: requestId, method: req.method, route, status, duration_ms: seconds * 1_000 },
        'request',
      );
    };
    res.once('close', inPresentContext(observe));
    next();
  };
}
