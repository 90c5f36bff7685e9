import type { RedisClient } from '@auth-account/redis';
import { createAuditLog, createAuditSampler, type Logger } from '@auth-account/telemetry';
import { type Audit, createAudit } from '../audit/audit.ts';
import { countAuditEvents } from '../audit/count-audit-events.ts';
import type { ApiConfig } from '../config.ts';
import { limitRulesOf } from '../limits/limit-config.ts';
import { createLimits, type Limits } from '../limits/limits.ts';
import type { ServerSecrets } from '../security/server-secrets.ts';
import type { ApiMetrics } from './metrics.ts';

export interface GuardParts {
  readonly config: ApiConfig;
  readonly logger: Logger;
  readonly metrics: ApiMetrics;
  /** A connection that fails fast: every login waits for it. */
  readonly redis: RedisClient;
  readonly secrets: ServerSecrets;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What watches over the use cases. */
export interface Guards {
  readonly audit: Audit;
  readonly limits: Limits;
  /** Writes what the audit log holds back. */
  readonly flushAudit: () => void;
}

export function composeGuards({ config, logger, metrics, redis, secrets, now }: GuardParts): Guards {
  const write = createAuditLog(logger);
  const sampler = createAuditSampler(write);
  const audit = createAudit({ write, sampler, count: countAuditEvents(metrics) });
  const limits = createLimits({
    redis,
    keyPrefix: config.KEY_PREFIX,
    secret: () => secrets()[0],
    rules: limitRulesOf(config),
    audit,
    now,
    onInsured: () => metrics.loginsInsured.inc(),
  });
  return { audit, limits, flushAudit: sampler.flush };
}
