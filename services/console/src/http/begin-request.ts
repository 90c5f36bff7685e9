import { randomUUID } from 'node:crypto';
import { requestIdPattern } from '@auth-account/contracts';
import { enterRequest } from '@auth-account/telemetry';
import type { RequestHandler, Response } from 'express';
import type { ConsoleMetrics } from '../runtime/metrics.ts';

/** Facts about a request, in `res.locals`. */
interface RequestFacts {
  requestId: string;
  /** For metrics; `none` if no route matched. */
  route: string;
}

/** Returns the facts about the request that is answered. */
export function factsOf(res: Response): RequestFacts {
  return res.locals as RequestFacts;
}

/** Gives the request its id, the client's or a new one, and measures it. */
export function beginRequest({ requestDuration }: Pick<ConsoleMetrics, 'requestDuration'>): RequestHandler {
  return (req, res, next) => {
    const given = req.headers['x-request-id'];
    const requestId = typeof given === 'string' && requestIdPattern.test(given) ? given : randomUUID();
    const startedAt = performance.now();
    Object.assign(res.locals, { requestId, route: 'none' } satisfies RequestFacts);
    res.setHeader('X-Request-ID', requestId);
    // What is read only to be discarded keeps no connection.
    if (Number(req.headers['content-length']) > 1_048_576) res.shouldKeepAlive = false;
    res.once('close', () => {
      const labels = { route: factsOf(res).route, status: String(res.statusCode) };
      requestDuration.observe(labels, (performance.now() - startedAt) / 1_000);
    });
    enterRequest({ request: req, response: res, requestId }, next);
  };
}
