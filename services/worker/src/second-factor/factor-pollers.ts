import { randomUUID } from 'node:crypto';
import type { DenyList } from '@auth-account/messaging/deny-list';
import type { RunTransaction, Stores } from '@auth-account/stores';
import type { KidInUse } from '@auth-account/stores/kids-in-use';
import { createAuditLog, type Logger, type Metrics } from '@auth-account/telemetry';
import type { SealedSecrets } from '@auth-account/tokens';
import { v7 } from 'uuid';
import type { WorkerConfig } from '../config.ts';
import { createErrorLog } from '../runtime/error-log.ts';
import { createWorkGauge, type WorkerMetrics } from '../runtime/metrics.ts';
import { createPoller, type Poller } from '../runtime/poller.ts';
import { createRemoveFactors, endReason } from './remove-factors.ts';
import { createResealSeeds } from './reseal-seeds.ts';

export interface FactorPollersDeps {
  readonly config: Pick<WorkerConfig, 'ERASURE_INTERVAL_MS'>;
  readonly stores: Pick<
    Stores,
    | 'kidsInUse'
    | 'secondFactors'
    | 'factorRemovals'
    | 'identities'
    | 'providerRevocations'
    | 'challenges'
    | 'sessions'
    | 'outbox'
  >;
  readonly transaction: RunTransaction;
  readonly denyList: Pick<DenyList, 'denyAndClose'>;
  readonly sealedSecrets: SealedSecrets;
  /** Returns the ids of the server keys of this process. */
  readonly kids: () => readonly string[];
  readonly metrics: Pick<WorkerMetrics, 'lostSecrets'>;
  readonly registry: Metrics['registry'];
  readonly logger: Logger;
  readonly now: () => Date;
}

/** Milliseconds between two looks for seeds that are sealed under an older server key. */
const resealIntervalMs = 3_600_000;
/** The same between two looks for secrets whose key is missing. */
const countIntervalMs = 60_000;
/** The same between two counts of overdue removals, the delay after which one is overdue, and the limit of the count. */
const [overdueIntervalMs, overdueAfterMs, overdueLimit] = [15_000, 600_000, 100_000];

/** Wires the care for second factors: the removals that are due, and the seals of seeds. */
export function createFactorPollers(deps: FactorPollersDeps): Poller[] {
  const { config, stores, sealedSecrets, kids, metrics, registry, logger, ...shared } = deps;
  const writeAudit = createAuditLog(logger);
  const remove = createRemoveFactors({
    ...stores,
    ...shared,
    onRemoved({ userId: user_id, removal: { by } }, sessionIds, request_id) {
      const shown = { outcome: 'success', user_id, request_id } as const;
      writeAudit({ ...shown, event: 'account.second_factor_removed', by });
      for (const session_id of sessionIds)
        writeAudit({ ...shown, event: 'session.revoked', session_id, reason: endReason });
    },
    onFailed: (user_id, err) => logger.warn({ err, user_id }, 'removal of a second factor not finished'),
    newEventId: () => v7(),
    newRequestId: randomUUID,
  });
  const reseal = createResealSeeds({
    ...stores,
    ...shared,
    sealedSecrets,
    onResealed: (secrets) => logger.info({ secrets }, 'seeds and tokens sealed under the newest server key'),
    onFailed: (user_id, err) => logger.warn({ err, user_id }, 'seed or token not sealed again'),
  });
  const poller = (run: () => Promise<void>, intervalMs: number, what: string) =>
    createPoller({ run, intervalMs, onError: createErrorLog(logger, what) });
  let lost: readonly KidInUse[] | undefined;
  async function countLost(): Promise<void> {
    const found = await stores.kidsInUse(kids());
    const isNew = found.some(({ kid }) => lost?.every((known) => known.kid !== kid) ?? true);
    if (isNew)
      logger.error({ missing: found }, 'a server key is not in the file of this process, and stored data needs it');
    lost = found;
    metrics.lostSecrets.set(found.reduce((sum, { count }) => sum + count, 0));
  }
  let overdue: number | undefined;
  createWorkGauge(registry, 'auth_factor_removals_overdue', () => overdue);
  async function countOverdue(): Promise<void> {
    overdue = await stores.factorRemovals.countDue(new Date(shared.now().getTime() - overdueAfterMs), overdueLimit);
  }
  return [
    poller(countOverdue, overdueIntervalMs, 'count of overdue removals of second factors'),
    poller(countLost, countIntervalMs, 'count of secrets without a key'),
    poller(remove, config.ERASURE_INTERVAL_MS, 'removal of second factors'),
    poller(reseal, resealIntervalMs, 'sealing of seeds and tokens'),
  ];
}
