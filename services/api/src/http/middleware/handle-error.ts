import type { EventTokenRefusal } from '@auth-account/contracts/http/security-event-token';
import { type AppError as AnyAppError, AppError, isAppError, toHttp } from '@auth-account/errors';
import { DenyListUnavailable } from '@auth-account/messaging/deny-list';
import { isBrokenSocket, isStoreUnavailable } from '@auth-account/stores';
import type { Logger } from '@auth-account/telemetry';
import { type KeptKeyKind, MissingKeyError } from '@auth-account/tokens';
import { findExpiredClaims } from '@auth-account/verifier/access-token';
import type { ErrorRequestHandler } from 'express';
import type { Audit } from '../../audit/audit.ts';
import { isAuthorizationStatus } from '../../audit/events.ts';
import { RequestAbandoned } from '../../request/assert-client-connected.ts';
import { SecurityEventRefusal, type SecurityEventTokenFault } from '../../security/providers/provider.ts';
import { contextOf, type RequestContext } from '../request-context.ts';
import { sendJson } from '../send-json.ts';

/**
 * Turns every error into an answer of the contract, and is the only place that does. Faults of the service are logged
 * as errors, and refusals of authorization are written to the audit log.
 */
export function handleError(logger: Logger, audit: Audit, onMissingKey: OnMissingKey): ErrorRequestHandler {
  const auditRefusal = createAuditRefusal(audit);
  return (error, _req, res, next) => {
    const context = contextOf(res);
    const { requestId, locale } = context;
    const appError = toAppError(error);
    if (error instanceof RequestAbandoned) logger.debug({ request_id: requestId }, 'request abandoned');
    else if (error instanceof MissingKeyError) {
      onMissingKey(error.kind);
      logger.error({ key: error.kind, kid: error.kid, request_id: requestId }, missingKeyText);
    } else if (isFault(appError)) logger.error({ err: appError, request_id: requestId }, 'request failed');
    auditRefusal(appError, context);
    if (res.headersSent) {
      next(error);
      return;
    }
    const refusal = context.isEventToken ? eventTokenRefusal(appError) : undefined;
    if (refusal !== undefined) {
      res.setHeader('Content-Language', 'en');
      sendJson(res, 400, refusal);
      return;
    }
    const { status, headers, body } = toHttp(appError, { locale });
    const { Vary = '', ...others } = headers;
    // A `Headers` would load Node's undici: 20 ms of CPU and 6 MB for the first error of a process.
    res.setHeaders(new Map(Object.entries(others)));
    // Added to what CORS has set.
    res.vary(Vary);
    sendJson(res, status, body);
  };
}

/** Called for each request that fails because a key is missing. */
export type OnMissingKey = (kind: KeptKeyKind) => void;

const missingKeyText = 'request failed: what it needs was made with a key that is not in the file of this process';

/**
 * A shed request is not a fault, and a stack trace for each would add work under overload. The access log and the
 * counter record it.
 */
function isFault({ status, code }: AppError): boolean {
  return status >= 500 && code !== 'ERR-OVERLOADED';
}

const retryAfterSeconds = 2;

/**
 * The broken socket must belong to MongoDB or Redis, because a client's broken socket does not arrive here as an error.
 */
const isDependencyAway = (error: unknown) =>
  isStoreUnavailable(error) ||
  isBrokenSocket(error) ||
  error instanceof DenyListUnavailable ||
  error instanceof MissingKeyError;

/** Errors of Express's body reader and router carry a `type` and a `status`. */
interface HttpErrorLike {
  readonly type?: unknown;
  readonly status?: unknown;
}

/**
 * Turns any error of a handler into an error for the client. This is the only place that gives codes to errors of
 * libraries.
 */
function toAppError(error: unknown): AnyAppError {
  if (isAppError(error)) return error;
  if (isDependencyAway(error) || error instanceof RequestAbandoned) {
    return new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds, cause: error });
  }
  const { type, status } = (error ?? {}) as HttpErrorLike;
  if (type === 'entity.too.large') return new AppError('ERR-PAYLOAD-TOO-LARGE', { cause: error });
  if (type === 'encoding.unsupported') return new AppError('ERR-UNSUPPORTED-MEDIA-TYPE', { cause: error });
  // The body ended before its announced length, or the path had invalid percent-encoding.
  if (type === 'request.aborted' || type === 'request.size.invalid') return unreadable(error);
  if (error instanceof URIError || status === 400) return new AppError('ERR-ROUTE-NOT-FOUND', { cause: error });
  return new AppError('ERR-INTERNAL', { cause: error });
}

function unreadable(cause: unknown): AnyAppError {
  const item = { loc: ['body'], msg: 'The body could not be read', type: 'json_invalid' } as const;
  return new AppError('ERR-VALIDATION-FAILED', { details: [{ ...item, loc: ['body'] }], cause });
}

const refusalByFault: Partial<Record<SecurityEventTokenFault, EventTokenRefusal['err']>> = {
  algorithm: 'invalid_key',
  key: 'invalid_key',
  signature: 'authentication_failed',
  issuer: 'invalid_issuer',
  audience: 'invalid_audience',
};

/**
 * Returns the body of RFC 8935, section 2.3, for an error that is about the security event token itself. The RFC leaves
 * the bodies of other HTTP errors to the service.
 */
function eventTokenRefusal({ code, cause }: AppError): EventTokenRefusal | undefined {
  if (code !== 'ERR-IDENTITY-TOKEN-INVALID' && code !== 'ERR-VALIDATION-FAILED') return;
  const fault = cause instanceof SecurityEventRefusal ? cause.fault : 'malformed';
  return {
    err: refusalByFault[fault] ?? 'invalid_request',
    description: `The security event token is refused: ${fault}.`,
  };
}

/**
 * Audits refused authorization: every 401 and 403 of a route that requires authorization, whatever raised it. The 401s
 * of login and refresh have events of their own.
 */
function createAuditRefusal(audit: Audit): (error: AppError, context: RequestContext) => void {
  return (error, context) => {
    const { isGuarded = false, route, bearer } = context;
    if (!isGuarded || !isAuthorizationStatus(error.status)) return;
    const genuine = bearer ?? findExpiredClaims(error);
    const ids = { user_id: genuine?.user_id, session_id: genuine?.sid };
    audit({ event: 'authorization.failed', reason: error.code, route, ...ids }, context);
  };
}

/** Raises `ERR-ROUTE-NOT-FOUND` for a request that no route matches. */
export function refuseUnknownRoute(): never {
  throw new AppError('ERR-ROUTE-NOT-FOUND');
}
