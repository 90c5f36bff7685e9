import { createAuditLog, createAuditSampler, type Logger } from '@auth-account/telemetry';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Audit, createAudit } from '../audit/audit.ts';
import { countAuditEvents } from '../audit/audit-counters.ts';
import type { AuditEvent } from '../audit/events.ts';
import type { ApiConfig } from '../config.ts';
import { createLimits, type Limits } from '../limits/limits.ts';
import type { RequestOrigin } from '../request/request-origin.ts';
import type { ApiMetrics } from '../runtime/metrics.ts';
import type { Connections } from '../runtime/shutdown-steps.ts';
import type { Security } from './security.ts';

interface Grounds {
  readonly config: ApiConfig;
  readonly logger: Logger;
  readonly metrics: ApiMetrics;
  /** A connection that must fail fast, because every login waits for it. */
  readonly connections: Pick<Connections, 'limitRedis'>;
  readonly security: Pick<Security, 'secrets'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Audit log and rate limits, which the use cases share. */
export interface Guards {
  readonly audit: Audit;
  readonly limits: Limits;
  /** Writes the audit log's events that are still held back. */
  readonly flushAudit: () => void;
}

export function composeGuards({ config, logger, metrics, connections, security, now }: Grounds): Guards {
  const write = createAuditLog(logger);
  const sampler = createAuditSampler(write);
  const countEvent = countAuditEvents(metrics);
  const count = (event: AuditEvent) => {
    countEvent(event);
    // Links are made by several operations, some of them only in the step after the one that had the ID token.
    if (event.event === 'identity.linked') metrics.providerLogins.inc({ provider: event.provider, outcome: 'linked' });
  };
  const audit = createAudit({ write, sampler, count });
  const limits = createLimits({
    redis: connections.limitRedis,
    keyPrefix: config.KEY_PREFIX,
    secret: () => security.secrets()[0],
    settings: config,
    onRefused: (reason, origin, { user_id = origin.caller?.user_id, account }) =>
      audit({ event: 'limit.exceeded', reason, user_id, account }, origin),
    now,
    onInsured: () => metrics.loginsInsured.inc(),
  });
  return { audit, limits, flushAudit: sampler.flush };
}

type Write<A extends readonly unknown[], T> = (
  ...args: [...input: A, caller: VerifiedAccessToken, origin: RequestOrigin]
) => Promise<T>;

/**
 * Puts a use case under the limit of a session's writes. It is for use cases that have no other limit. Repeated writes
 * could delay a recovery of the account, because the recovery must write the same documents.
 */
export function createLimitWrites({ write: count }: Pick<Limits, 'write'>) {
  return <A extends readonly unknown[], T>(write: Write<A, T>): Write<A, T> =>
    async (...args) => {
      const [{ sid }, origin] = args.slice(-2) as [VerifiedAccessToken, RequestOrigin];
      await count(sid, origin);
      return write(...args);
    };
}
