import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { requestIdPattern } from '@auth-account/contracts';
import { AppError, negotiateLocale } from '@auth-account/errors';
import { activeTraceparent, enterRequest } from '@auth-account/telemetry';
import type { RequestHandler } from 'express';
import { extendContext } from '../request-context.ts';

/** W3C Trace Context, version 00. */
const traceparentPattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Reads the request id as sent: `undefined` if it is missing or empty, `null` if it is malformed. */
function readRequestId(header: string | string[] | undefined): string | undefined | null {
  const value = Array.isArray(header) ? header.join(', ') : header;
  if (value === undefined || value === '') return undefined;
  return requestIdPattern.test(value) ? value : null;
}

/**
 * The first handler of every request. It gives the request its context, and every answer an `X-Request-ID`, either the
 * client's or a generated id. `requireRequestId` decides whether a generated id is enough. If a huge body is announced,
 * the connection ends after the answer.
 */
export const beginRequest: RequestHandler = (req, res, next) => {
  const requestId = readRequestId(req.headers['x-request-id']) ?? randomUUID();
  res.setHeader('X-Request-ID', requestId);
  // On a kept connection Node would read the whole body and discard it.
  if (announcesHugeBody(req)) res.shouldKeepAlive = false;
  // From here on, all work for the request, in any span, has the request's id.
  enterRequest({ request: req, response: res, requestId }, () => {
    const traceparent = activeTraceparent() ?? req.headers.traceparent;
    extendContext(res, {
      requestId,
      receivedAt: performance.now(),
      isAbandoned: () => !req.socket.writable,
      network: req.ip,
      locale: negotiateLocale(req.headers['accept-language']),
      ...(typeof traceparent === 'string' && traceparentPattern.test(traceparent) ? { traceparent } : {}),
    });
    next();
  });
};

/**
 * Refuses a request without a request id (400 `PMA_TRACE_ID_MISSING`, but not in mode `generate`) and a request with a
 * malformed id (422 `ERR-VALIDATION-FAILED`).
 */
export function requireRequestId(mode: 'require' | 'generate'): RequestHandler {
  return (req, _res, next) => {
    const requestId = readRequestId(req.headers['x-request-id']);
    if (requestId === undefined && mode === 'require') throw new AppError('PMA_TRACE_ID_MISSING');
    if (requestId === null) {
      const msg = 'Value must be a single header of 1 to 128 characters of A-Z a-z 0-9 . _ ~ : / + = -';
      throw new AppError('ERR-VALIDATION-FAILED', {
        details: [{ loc: ['header', 'X-Request-ID'], msg, type: 'string_pattern_mismatch' }],
      });
    }
    next();
  };
}

/**
 * Limit for the bytes of a body that is read only to be discarded. The rest of a body that is too large is read before
 * the answer, because otherwise the client might not read the answer. If the client announces more bytes than this,
 * nothing is read, and the connection ends after the answer.
 */
const patienceLimit = 1_048_576;

/** Returns true if the announced body is too large even to be read and discarded. */
export function announcesHugeBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return Number(headers['content-length']) > patienceLimit;
}
