import { randomUUID } from 'node:crypto';
import type { DenyList } from '@auth-account/messaging/deny-list';
import type { RunTransaction, Stores } from '@auth-account/stores';
import { createAuditLog, type Logger } from '@auth-account/telemetry';
import type { SealedSecrets } from '@auth-account/tokens';
import { v7 } from 'uuid';
import type { WorkerConfig } from '../config.ts';
import { createErrorLog } from '../runtime/error-log.ts';
import { createPoller, type Poller } from '../runtime/poller.ts';
import { createRemoveFactors, endReason } from './remove-factors.ts';
import { createResealSeeds } from './reseal-seeds.ts';

export interface FactorPollersDeps {
  readonly config: Pick<WorkerConfig, 'ERASURE_INTERVAL_MS'>;
  readonly stores: Pick<
    Stores,
    'secondFactors' | 'factorRemovals' | 'identities' | 'providerRevocations' | 'challenges' | 'sessions' | 'outbox'
  >;
  readonly transaction: RunTransaction;
  readonly denyList: Pick<DenyList, 'denyAndClose'>;
  readonly sealedSecrets: SealedSecrets;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** Milliseconds between two looks for seeds that are sealed under an older server key. */
const resealIntervalMs = 3_600_000;

/** Wires the care for second factors: the removals that are due, and the seals of seeds. */
export function createFactorPollers({ config, stores, sealedSecrets, logger, ...shared }: FactorPollersDeps): Poller[] {
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
  return [
    poller(remove, config.ERASURE_INTERVAL_MS, 'removal of second factors'),
    poller(reseal, resealIntervalMs, 'sealing of seeds and tokens'),
  ];
}
