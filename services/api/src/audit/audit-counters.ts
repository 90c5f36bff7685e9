import type { RevocationReason } from '@auth-account/stores';
import { createZeroedCounter, type Metrics } from '@auth-account/telemetry';
import { authorizationCodes } from './authorization-codes.ts';
import type { AuditEventName } from './events.ts';
import { limitRules } from './events.ts';

export type AuditCounters = ReturnType<typeof createAuditCounters>;

/** What a login can come to. */
export const loginOutcomes = {
  'login.succeeded': 'succeeded',
  'login.failed': 'failed',
} as const satisfies Partial<Record<AuditEventName, string>>;

/** What a refresh can come to. */
export const refreshOutcomes = {
  'refresh.rotated': 'rotated',
  'refresh.converged': 'converged',
  'refresh.expired': 'expired',
  'refresh.revoked': 'revoked',
  'refresh.stolen': 'stolen',
  'refresh.abandoned': 'abandoned',
} as const satisfies Partial<Record<AuditEventName, string>>;

/** What can happen to a group. */
export const groupChanges = {
  'group.joined': 'joined',
  'group.left': 'left',
  'group.removed': 'removed',
  'group.owner_changed': 'owner_changed',
  'group.closed': 'closed',
} as const satisfies Partial<Record<AuditEventName, string>>;

const endReasons: readonly RevocationReason[] = [
  'logout',
  'replaced',
  'session_limit',
  'refresh_token_reuse',
  'revoked_by_user',
];

/** The counters that the audit log's events keep. */
export function createAuditCounters(registry: Metrics['registry']) {
  return {
    logins: createZeroedCounter({
      registry,
      name: 'auth_logins_total',
      help: 'Logins whose password was verified, by outcome',
      values: { outcome: Object.values(loginOutcomes) },
    }),
    refreshes: createZeroedCounter({
      registry,
      name: 'auth_refreshes_total',
      help: 'Refreshes by outcome',
      values: { outcome: Object.values(refreshOutcomes) },
    }),
    authorizationFailures: createZeroedCounter({
      registry,
      name: 'auth_authorization_failures_total',
      help: 'Requests to routes that ask for authorization which were refused with 401 or 403, by error code',
      values: { code: authorizationCodes },
    }),
    rateLimited: createZeroedCounter({
      registry,
      name: 'auth_rate_limited_total',
      help: 'Requests refused with 429, by rule',
      values: { rule: limitRules },
    }),
    groupChanges: createZeroedCounter({
      registry,
      name: 'auth_group_changes_total',
      help: 'Changes of groups; a registration by invite is none',
      values: { change: Object.values(groupChanges) },
    }),
    sessionsEnded: createZeroedCounter({
      registry,
      name: 'auth_sessions_ended_total',
      help: "Sessions that were revoked, by reason; forced logouts are among the worker's metrics",
      values: { reason: endReasons },
    }),
  };
}
