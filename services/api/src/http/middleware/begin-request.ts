import { randomUUID } from 'node:crypto';
import { requestIdPattern } from '@auth-account/contracts';
import { negotiateLocale } from '@auth-account/errors';
import { activeTraceparent, enterRequest } from '@auth-account/telemetry';
import type { RequestHandler } from 'express';
import { extendContext } from '../request-context.ts';
import { announcesHugeBody } from './announces-huge-body.ts';

/** W3C Trace Context, version 00. */
const traceparentPattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The request id as it came: `undefined` where it is missing or empty, `null` where it is malformed. */
export function readRequestId(header: string | string[] | undefined): string | undefined | null {
  const value = Array.isArray(header) ? header.join(', ') : header;
  if (value === undefined || value === '') return undefined;
  return requestIdPattern.test(value) ? value : null;
}

/**
 * First of all: gives the request its context and every answer its `X-Request-ID`, the one that came or one of ours.
 * Whether ours will do is for `requireRequestId` to say. Where a huge body is announced the connection ends with the answer.
 */
export const beginRequest: RequestHandler = (req, res, next) => {
  const requestId = readRequestId(req.headers['x-request-id']) ?? randomUUID();
  const traceparent = activeTraceparent() ?? req.headers.traceparent;
  res.setHeader('X-Request-ID', requestId);
  // On a connection that is kept Node would take all of it in and throw it away.
  if (announcesHugeBody(req)) res.shouldKeepAlive = false;
  extendContext(res, {
    requestId,
    receivedAt: performance.now(),
    isAbandoned: () => !req.socket.writable,
    address: req.ip,
    locale: negotiateLocale(req.headers['accept-language']),
    ...(typeof traceparent === 'string' && traceparentPattern.test(traceparent) ? { traceparent } : {}),
  });
  // Everything that is done for the request, in whatever span, bears its id from here on.
  enterRequest(requestId, next);
};
