import { loggedNetwork } from '@auth-account/lifecycle';
import type { AuditSampler, WriteAudit } from '@auth-account/telemetry';
import type { RequestOrigin } from '../request/request-origin.ts';
import type { AuditRow } from './audit-row.ts';
import { type AuditEvent, auditEvents } from './events.ts';

/** Writes an event to the audit log, with the request that caused it. */
export type Audit = (event: AuditEvent, origin: Pick<RequestOrigin, 'requestId' | 'network'>) => void;

export interface AuditDeps {
  readonly write: WriteAudit;
  /** Writes a sample of the events that any client can cause without limit. */
  readonly sampler: Pick<AuditSampler, 'write'>;
  /** Called with every event. */
  readonly count: (event: AuditEvent) => void;
}

/** Creates the audit of the api. */
export function createAudit({ write, sampler, count }: AuditDeps): Audit {
  return (event, { requestId, network }) => {
    count(event);
    const logged = loggedNetwork(network);
    const { outcome = 'success', sampled, sampledTogether }: AuditRow = auditEvents[event.event];
    const fields = { outcome, ...event, request_id: requestId, address: logged };
    const reason = 'reason' in event ? event.reason : '';
    if (!sampled?.includes(reason)) write(fields);
    else {
      const of = sampledTogether?.includes(reason) ? undefined : logged;
      sampler.write({ kind: `${event.event} ${reason}`, fields, network: of });
    }
  };
}
