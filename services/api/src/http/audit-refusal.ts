import type { AppError } from '@auth-account/errors';
import { findExpiredClaims } from '@auth-account/tokens';
import type { Audit } from '../audit/audit.ts';
import { isAuthorizationStatus } from '../audit/authorization-codes.ts';
import type { RequestContext } from './request-context.ts';

/**
 * Makes the one place that writes refused authorization down: 401 and 403 of routes that ask for it, whoever raised
 * them. The 401s of login and refresh are events of their own.
 */
export function createAuditRefusal(audit: Audit): (error: AppError, context: RequestContext) => void {
  return (error, context) => {
    const { isGuarded = false, route, bearer } = context;
    if (!isGuarded || !isAuthorizationStatus(error.status)) return;
    const genuine = bearer ?? findExpiredClaims(error);
    const ids = { user_id: genuine?.user_id, session_id: genuine?.sid };
    audit({ event: 'authorization.failed', reason: error.code, route, ...ids }, context);
  };
}
