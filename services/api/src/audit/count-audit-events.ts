import { type AuditCounters, groupChanges, loginOutcomes, refreshOutcomes } from './audit-counters.ts';
import type { AuditEvent, AuditEventName } from './events.ts';

/** Makes the function that keeps the counters. */
export function countAuditEvents(counters: AuditCounters): (event: AuditEvent) => void {
  const steps: Partial<Record<AuditEventName, () => void>> = {};
  for (const [name, outcome] of Object.entries(loginOutcomes)) {
    steps[name as AuditEventName] = () => counters.logins.inc({ outcome });
  }
  for (const [name, outcome] of Object.entries(refreshOutcomes)) {
    steps[name as AuditEventName] = () => counters.refreshes.inc({ outcome });
  }
  for (const [name, change] of Object.entries(groupChanges)) {
    steps[name as AuditEventName] = () => counters.groupChanges.inc({ change });
  }
  return (event) => {
    if (event.event === 'authorization.failed') counters.authorizationFailures.inc({ code: event.reason });
    else if (event.event === 'limit.exceeded') counters.rateLimited.inc({ rule: event.reason });
    else if (event.event === 'session.revoked') counters.sessionsEnded.inc({ reason: event.reason });
    else if (event.event === 'logout.succeeded') counters.sessionsEnded.inc({ reason: 'logout' });
    else steps[event.event]?.();
  };
}
