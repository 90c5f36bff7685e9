import { pushStreamPath } from '@auth-account/contracts/push/close-codes';
import type { AppError } from '@auth-account/errors';
import { loggedNetwork } from '@auth-account/lifecycle';
import type { AuditSampler } from '@auth-account/telemetry';
import { authorizationCodes, type PushMetrics } from '../runtime/metrics.ts';

/** The owner and the origin of a refused token. */
export interface RefusedAuthorization {
  /** User of a genuine token. */
  readonly user_id?: string | undefined;
  /** Session of a genuine token. If a frame was refused, the session of its stream. */
  readonly session_id?: string | undefined;
  /** The handshake; absent if a frame was refused. */
  readonly handshake?: { readonly requestId: string; readonly network: string | undefined };
}

export interface AuditRefusalDeps {
  readonly sampler: Pick<AuditSampler, 'write'>;
  readonly metrics: Pick<PushMetrics, 'authorizationFailures'>;
}

export type AuditRefusal = (error: AppError, refused: RefusedAuthorization) => void;

const event = 'authorization.failed';
/** Path of a handshake in the audit log. */
export const route = pushStreamPath(':id');

/** Counts and audits refused authorization (docs/audit.md). It ignores other errors. */
export function createAuditRefusal({ sampler, metrics }: AuditRefusalDeps): AuditRefusal {
  return ({ code }, { handshake, ...ids }) => {
    if (!authorizationCodes.includes(code)) return;
    metrics.authorizationFailures.inc({ code });
    const fields = { outcome: 'failure', event, reason: code, route, ...ids };
    if (handshake === undefined) {
      sampler.write({ kind: `${event} ${code} frame`, fields });
      return;
    }
    const network = loggedNetwork(handshake.network);
    sampler.write({
      kind: `${event} ${code}`,
      // Expired tokens are common and come from everywhere, because apps were asleep.
      network: code === 'IAD_JWT_ACCESS_EXPIRED' ? undefined : network,
      fields: { ...fields, request_id: handshake.requestId, address: network },
    });
  };
}
