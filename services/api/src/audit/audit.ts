import { loggedNetwork } from '@auth-account/lifecycle';
import type { AuditSampler, WriteAudit } from '@auth-account/telemetry';
import type { RequestOrigin } from '../request/request-origin.ts';
import { type AuditEvent, auditEvents } from './events.ts';

/** Writes an event to the audit log, with the request that caused it. */
export type Audit = (event: AuditEvent, origin: Pick<RequestOrigin, 'requestId' | 'address'>) => void;

export interface AuditDeps {
  readonly write: WriteAudit;
  /** Takes the events that any client can cause without limit. */
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
 * Returns the key by which an event is sampled; undefined if all of them are written, because they concern an account
 * or because a limit bounds them. A `login.failed`, for example, is a try that the limits let through.
 */
function sampledBy(event: AuditEvent): 'network' | 'kind' | undefined {
  switch (event.event) {
    case 'limit.exceeded':
      return 'network';
    case 'code.failed':
      // A wrong code is one of five for its challenge; the others can be sent at will.
      return event.reason === 'wrong' ? undefined : 'network';
    case 'refresh.expired':
      return event.reason === 'not_genuine' ? 'network' : undefined;
    case 'authorization.failed':
      // Common, and from everywhere: apps that were asleep. Sampled by network, they would fill the log and the
      // sampler.
      return event.reason === 'IAD_JWT_ACCESS_EXPIRED' ? 'kind' : 'network';
    default:
      return undefined;
  }
}
