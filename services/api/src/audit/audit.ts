import type { WriteAudit } from '@auth-account/telemetry';
import { addressPrefix } from '../limits/address-prefix.ts';
import type { RequestOrigin } from '../request-origin.ts';
import { type AuditEvent, auditEvents } from './events.ts';

/** Writes an event down, with the request that brought it about. */
export type Audit = (event: AuditEvent, origin: Pick<RequestOrigin, 'requestId' | 'address'>) => void;

/** Network of a client: enough to see where from, too little to see who. */
const loggedPrefix = { v4: 24, v6: 48 } as const;

/** Makes the audit of the api; `count` sees every event. */
export function createAudit(write: WriteAudit, count: (event: AuditEvent) => void): Audit {
  return (event, { requestId, address }) => {
    const { outcome } = auditEvents[event.event];
    write({ outcome, ...event, request_id: requestId, address: addressPrefix(address, loggedPrefix) });
    count(event);
  };
}
