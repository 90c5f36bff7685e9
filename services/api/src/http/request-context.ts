import type { Locale } from '@auth-account/errors';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Response } from 'express';
import type { RequestOrigin } from '../request/request-origin.ts';
import type { Sibling } from '../security/sibling-secrets.ts';

/** Facts about a request that the middlewares have established; kept in `res.locals`. */
export interface RequestContext extends RequestOrigin {
  readonly locale: Locale;
  /** Route template, for logs and metrics; undefined if no route matched. */
  readonly route?: string;
  /** The route requires authorization; set once one matched. */
  readonly isGuarded?: boolean;
  /** Claims of a genuine token, set before the deny list is read: for the audit log only. */
  readonly bearer?: VerifiedAccessToken;
  /** Set by `authenticate`. */
  readonly caller?: VerifiedAccessToken;
  /** Set by `authenticateSibling`. */
  readonly sibling?: Sibling;
  /** Throws if the contract does not allow the answer; set if answers are validated. */
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

/** Returns the caller of a route with `auth: 'sibling'`. */
export function siblingOf(res: Response): Sibling {
  const { sibling } = contextOf(res);
  if (sibling === undefined) throw new Error('the route is mounted without authentication');
  return sibling;
}
