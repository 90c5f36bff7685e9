import { type AuditSampler, loggedNetwork, type WriteAudit } from '@auth-account/telemetry';
import type { RequestOrigin } from '../request/request-origin.ts';
import { type AuditEvent, auditEvents } from './events.ts';

/** Writes an event down, with the request that brought it about. */
export type Audit = (event: AuditEvent, origin: Pick<RequestOrigin, 'requestId' | 'address'>) => void;

export interface AuditDeps {
  readonly write: WriteAudit;
  /** Takes the events that anybody can cause as often as they like. */
  readonly sampler: Pick<AuditSampler, 'write'>;
  /** Sees every event. */
  readonly count: (event: AuditEvent) => void;
}

/** Creates the audit of the api. */
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

/**
 * By what an event is sampled; undefined if every one of them is written, as somebody's account is at stake or a
 * limit bounds them: a `login.failed` is one of the tries that the limits let through.
 */
function sampledBy(event: AuditEvent): 'network' | 'kind' | undefined {
  switch (event.event) {
    case 'limit.exceeded':
      return 'network';
    case 'refresh.expired':
      return event.reason === 'not_genuine' ? 'network' : undefined;
    case 'authorization.failed':
      // Every-day, from everywhere: apps that were asleep. By network they would fill the log, and the sampler.
      return event.reason === 'IAD_JWT_ACCESS_EXPIRED' ? 'kind' : 'network';
    default:
      return undefined;
  }
}
