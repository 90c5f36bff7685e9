import type { Locale } from '@auth-account/errors';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Response } from 'express';
import type { RequestOrigin } from '../request/request-origin.ts';
import type { InternalService } from '../security/internal-service-secrets.ts';

/** Facts about a request that the middlewares have established. They are kept in `res.locals`. */
export interface RequestContext extends RequestOrigin {
  readonly locale: Locale;
  /** Route template, for logs and metrics; undefined if no route matched. */
  readonly route?: string;
  /** True if the route requires authorization; set when the route has matched. */
  readonly isGuarded?: boolean;
  /** Claims of a genuine token, for the audit log only, because they are set before the deny list is read. */
  readonly bearer?: VerifiedAccessToken;
  /** Set by `authenticate`. */
  readonly caller?: VerifiedAccessToken;
  /** Set by `authenticateInternalService`. */
  readonly internalService?: InternalService;
  /** True if the body is a security event token, which RFC 8935 answers; set by `tokenOrJsonBody`. */
  readonly isEventToken?: boolean;
  /** Throws if the contract does not allow the answer. Set only if answers are validated. */
  readonly checkAnswer?: ((status: number, body: unknown) => void) | undefined;
}

export function contextOf(res: Response): RequestContext {
  return res.locals as RequestContext;
}

/** Adds to the context of the request. */
export function extendContext(res: Response, part: Partial<RequestContext>): void {
  Object.assign(res.locals, part);
}

/** Returns the caller of a route with `auth: 'bearer'` or `'signature'`. */
export function callerOf(res: Response): VerifiedAccessToken {
  const { caller } = contextOf(res);
  if (caller === undefined) throw new Error('the route is mounted without authentication');
  return caller;
}

/** Returns the caller of a route with `auth: 'internalService'`. */
export function internalServiceOf(res: Response): InternalService {
  const { internalService } = contextOf(res);
  if (internalService === undefined) throw new Error('the route is mounted without authentication');
  return internalService;
}
