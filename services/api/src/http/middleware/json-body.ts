import type { IncomingMessage } from 'node:http';
import { AppError } from '@auth-account/errors';
import express, { type RequestHandler } from 'express';
import { contextOf, extendContext } from '../request-context.ts';
import { parseJson } from '../validation/parse-json.ts';
import { announcesHugeBody } from './begin-request.ts';

/** Limit for a request body, in bytes (docs/specification/requests.md, "Bodies"). */
const bodyLimit = 16 * 1024;

/** Refuses a huge body before any of it is read. */
const refuseHuge: RequestHandler = (req, _res, next) => {
  if (announcesHugeBody(req)) throw new AppError('ERR-PAYLOAD-TOO-LARGE');
  next();
};

const readRaw = express.raw({ type: () => true, limit: bodyLimit, inflate: false });

const requireJson: RequestHandler = (req, _res, next) => {
  if (!isJson(req.headers['content-type'])) throw new AppError('ERR-UNSUPPORTED-MEDIA-TYPE');
  next();
};

const parseBody: RequestHandler = (req, res, next) => {
  // The time that the client takes to send the body does not count as waiting for the service.
  extendContext(res, { receivedAt: performance.now() });
  req.body = parseOrRefuse(Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0));
  next();
};

/**
 * Reads a JSON body. Raises `ERR-UNSUPPORTED-MEDIA-TYPE` (also for a compressed body), `ERR-PAYLOAD-TOO-LARGE` and, if
 * the body is not JSON, `ERR-VALIDATION-FAILED` with type `json_invalid`.
 */
export const jsonBody: readonly RequestHandler[] = [requireJson, refuseHuge, readRaw, parseBody];

/** Media type of a security event token (RFC 8417). */
const tokenForm = /^application\/secevent\+jwt\s*(?:;|$)/i;

const isToken = ({ headers }: IncomingMessage) => tokenForm.test(headers['content-type'] ?? '');

/** Reads a JSON body like {@link jsonBody}, or a token, which becomes the body's `payload`. */
export const tokenOrJsonBody: readonly RequestHandler[] = [
  (req, res, next) => {
    if (!isToken(req)) {
      requireJson(req, res, next);
      return;
    }
    extendContext(res, { isEventToken: true });
    next();
  },
  refuseHuge,
  readRaw,
  (req, res, next) => {
    if (!contextOf(res).isEventToken) {
      parseBody(req, res, next);
      return;
    }
    extendContext(res, { receivedAt: performance.now() });
    req.body = { payload: Buffer.isBuffer(req.body) ? req.body.toString('utf8').trim() : '' };
    next();
  },
];

/** Media type of JSON. A semicolon may have no parameter after it (RFC 9110, section 5.6.6). */
const jsonForm = /^application\/json\s*(?:;\s*)*(?:;\s*charset=(?:utf-8|"utf-8")\s*(?:;\s*)*)?$/i;

function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && jsonForm.test(contentType);
}

function parseOrRefuse(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch (cause) {
    const msg = 'Input should be valid JSON in UTF-8, without duplicate keys';
    throw new AppError('ERR-VALIDATION-FAILED', { details: [{ loc: ['body'], msg, type: 'json_invalid' }], cause });
  }
}
