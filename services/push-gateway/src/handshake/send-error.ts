import type { HttpResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { type AppError, toHttp } from '@auth-account/errors';
import type { RequestHead } from './handshake.ts';

/**
 * Answers with the contract's error body and closes the connection, which is of no further use. The response must not
 * have been aborted.
 */
export function sendError(res: HttpResponse, error: AppError, { requestId, locale, isHead }: RequestHead): void {
  const { status, headers, body } = toHttp(error, { locale });
  const text = JSON.stringify(body);
  res.cork(() => {
    res.writeStatus(`${status} ${STATUS_CODES[status]}`);
    for (const [name, value] of Object.entries(headers)) res.writeHeader(name, value);
    res.writeHeader('Content-Type', 'application/json').writeHeader('X-Request-ID', requestId);
    res.end(isHead ? '' : text, true);
  });
}
