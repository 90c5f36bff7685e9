import { type AuditSampler, loggedNetwork, type WriteAudit } from '@auth-account/telemetry';
import type { RequestOrigin } from '../request/request-origin.ts';
import { type AuditEvent, auditEvents } from './events.ts';
import { sampledBy } from './sampled-by.ts';

/** Writes an event down, with the request that brought it about. */
export type Audit = (event: AuditEvent, origin: Pick<RequestOrigin, 'requestId' | 'address'>) => void;

export interface AuditDeps {
  readonly write: WriteAudit;
  /** Takes the events that anybody can cause as often as they like. */
  readonly sampler: Pick<AuditSampler, 'write'>;
  /** Sees every event. */
  readonly count: (event: AuditEvent) => void;
}

/** Makes the audit of the api. */
export function createAudit({ write, sampler, count }: AuditDeps): Audit {
  return (event, { requestId, address }) => {
    count(event);
    const network = loggedNetwork(address);
    const { outcome } = auditEvents[event.event];
    const fields = { outcome, ...event, request_id: requestId, address: network };
    const by = sampledBy(event);
    if (by === undefined) write(fields);
    else sampler.write({ kind: kindOf(event), fields, network: by === 'network' ? network : undefined });
  };
}

function kindOf(event: AuditEvent): string {
  return 'reason' in event ? `${event.event} ${event.reason}` : event.event;
}
