import { type KeyObject, randomUUID } from 'node:crypto';
import type { DenyList } from '@auth-account/messaging/deny-list';
import { createAccountCounts, type RedisClient } from '@auth-account/redis';
import type { RunTransaction, Stores } from '@auth-account/stores';
import { createAuditLog, type Logger, type Metrics } from '@auth-account/telemetry';
import { v7 } from 'uuid';
import type { WorkerConfig } from '../config.ts';
import { createErrorLog } from '../runtime/error-log.ts';
import { createWorkGauge, type WorkerMetrics } from '../runtime/metrics.ts';
import { createPoller, type Poller } from '../runtime/poller.ts';
import { createEraseAccounts } from './erase-accounts.ts';
import { createRemoveLapsedEmails } from './remove-lapsed-emails.ts';

export interface ErasureDeps {
  readonly config: Pick<WorkerConfig, 'ERASURE_DELAY_SECONDS' | 'ERASURE_INTERVAL_MS'> & {
    readonly KEY_PREFIX: string;
  };
  readonly stores: Pick<Stores, 'deletions' | 'emailChanges' | 'outbox'>;
  readonly transaction: RunTransaction;
  readonly denyList: Pick<DenyList, 'denyAndClose'>;
  readonly lifetimeMs: number;
  /** Connection that fails at once while Redis is away. */
  readonly redis: RedisClient;
  readonly secrets: () => readonly KeyObject[];
  readonly metrics: Pick<WorkerMetrics, 'erasures'>;
  readonly registry: Metrics['registry'];
  readonly logger: Logger;
  readonly now: () => Date;
}

/**
 * Delay in ms after which an account counts as overdue. It is enough for several rounds and the lease of a dead worker.
 */
const overdueAfterMs = 600_000;
const countIntervalMs = 15_000;
const countLimit = 100_000;

export interface Erasure {
  /** Pollers that erase accounts and remove lapsed email addresses. They need Redis. */
  readonly erasing: readonly Poller[];
  /** Counts the overdue accounts. */
  readonly counting: Poller;
}

/** Wires the erasure of accounts and of lapsed email addresses, with its metrics and audit events. */
export function createErasure(deps: ErasureDeps): Erasure {
  const { config, stores, metrics, registry, logger, now } = deps;
  const writeAudit = createAuditLog(logger);
  const { forget: forgetKnown } = createAccountCounts({ ...deps, keyPrefix: config.KEY_PREFIX });
  const run = createEraseAccounts({
    ...deps,
    ...stores,
    forgetKnown,
    delayMs: config.ERASURE_DELAY_SECONDS * 1_000,
    onErased({ user: { _id: user_id, home_group_id }, isClosed, heir }, request_id) {
      metrics.erasures.inc({ outcome: 'erased' });
      const success = { outcome: 'success', request_id } as const;
      writeAudit({ ...success, event: 'account.deleted', user_id });
      if (heir !== undefined) writeAudit({ ...success, event: 'group.owner_changed', user_id: heir, home_group_id });
      if (isClosed) writeAudit({ ...success, event: 'group.closed', user_id, home_group_id });
    },
    onFailed(user_id) {
      metrics.erasures.inc({ outcome: 'failed' });
      logger.warn({ user_id }, 'account not erased: it is tried again in a minute');
    },
    onNotForgotten: (user_id, err) =>
      logger.warn({ err, user_id }, 'account erased, but Redis may keep what a login under way has made known of it'),
    newEventId: () => v7(),
    newLease: randomUUID,
  });
  let overdue: number | undefined;
  createWorkGauge(registry, 'auth_erasures_overdue', () => overdue);
  async function count(): Promise<void> {
    overdue = await stores.deletions.countDue(new Date(now().getTime() - overdueAfterMs), countLimit);
  }
  const intervalMs = config.ERASURE_INTERVAL_MS;
  const removeEmails = createRemoveLapsedEmails({ ...stores, forgetKnown, now });
  return {
    erasing: [
      createPoller({ run, intervalMs, onError: createErrorLog(logger, 'erasure of accounts') }),
      createPoller({
        run: removeEmails,
        intervalMs,
        onError: createErrorLog(logger, 'removal of lapsed email addresses'),
      }),
    ],
    counting: createPoller({
      run: count,
      intervalMs: countIntervalMs,
      onError: createErrorLog(logger, 'count of overdue erasures'),
    }),
  };
}
