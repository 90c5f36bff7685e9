import type { AuditCounters } from './audit-counters.ts';
import type { AuditEvent } from './events.ts';

/** What a login can come to. */
const loginOutcomes = { 'login.succeeded': 'succeeded', 'login.failed': 'failed' } as const;

/** What a refresh can come to. */
const refreshOutcomes = {
  'refresh.rotated': 'rotated',
  'refresh.converged': 'converged',
  'refresh.expired': 'expired',
  'refresh.revoked': 'revoked',
  'refresh.stolen': 'stolen',
} as const;

/** Makes the function that keeps the counters. Every outcome is there from the start, at zero. */
export function countAuditEvents({ logins, refreshes, rateLimited }: AuditCounters): (event: AuditEvent) => void {
  for (const outcome of Object.values(loginOutcomes)) logins.inc({ outcome }, 0);
  for (const outcome of Object.values(refreshOutcomes)) refreshes.inc({ outcome }, 0);
  return (event) => {
    if (event.event in loginOutcomes) {
      logins.inc({ outcome: loginOutcomes[event.event as keyof typeof loginOutcomes] });
    } else if (event.event in refreshOutcomes) {
      refreshes.inc({ outcome: refreshOutcomes[event.event as keyof typeof refreshOutcomes] });
    } else if (event.event === 'limit.exceeded') {
      rateLimited.inc({ rule: event.reason });
    }
  };
}
