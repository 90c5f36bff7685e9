import { type AppError, toHttp } from '@auth-account/errors';
import type { Logger } from '@auth-account/telemetry';
import type { ErrorRequestHandler } from 'express';
import type { Audit } from '../../audit/audit.ts';
import { RequestAbandoned } from '../../usecases/assert-client-connected.ts';
import { createAuditRefusal } from '../audit-refusal.ts';
import { contextOf } from '../request-context.ts';
import { sendJson } from '../send-json.ts';
import { toAppError } from '../to-app-error.ts';

/**
 * The edge: every error becomes an answer of the contract here, and nowhere else. Faults of ours are logged as errors, and
 * refusals of authorization are written into the audit log.
 */
export function handleError(logger: Logger, audit: Audit): ErrorRequestHandler {
  const auditRefusal = createAuditRefusal(audit);
  return (error, _req, res, next) => {
    const context = contextOf(res);
    const { requestId, locale } = context;
    const appError = toAppError(error);
    if (error instanceof RequestAbandoned) logger.debug({ request_id: requestId }, 'request abandoned');
    else if (isFault(appError)) logger.error({ err: appError, request_id: requestId }, 'request failed');
    auditRefusal(appError, context);
    if (res.headersSent) {
      next(error);
      return;
    }
    const { status, headers, body } = toHttp(appError, { locale });
    res.setHeaders(new Headers(headers));
    sendJson(res, status, body);
  };
}

/** What is shed is no fault, and a stack for each would be work for the overloaded: the access line and a counter have it. */
function isFault({ status, code }: AppError): boolean {
  return status >= 500 && code !== 'ERR-OVERLOADED';
}
