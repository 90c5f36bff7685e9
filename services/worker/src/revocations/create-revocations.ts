import { readProviders } from '@auth-account/config';
import type { RefusalNotes } from '@auth-account/messaging/process-reports';
import type { Stores } from '@auth-account/stores';
import type { ProviderRevocationDocument } from '@auth-account/stores/documents';
import { createAuditLog, type Logger, type Metrics } from '@auth-account/telemetry';
import type { SealedSecrets } from '@auth-account/tokens';
import type { WorkerConfig } from '../config.ts';
import { createErrorLog } from '../runtime/error-log.ts';
import { createWorkGauge, type WorkerMetrics } from '../runtime/metrics.ts';
import { createPoller, type Poller } from '../runtime/poller.ts';
import { createRevokeTokens, type RevokeTokensDeps } from './revoke-tokens.ts';

export interface RevocationsDeps {
  readonly config: Pick<WorkerConfig, 'IDENTITY_PROVIDERS' | 'ERASURE_INTERVAL_MS'>;
  readonly stores: Pick<Stores, 'providerRevocations'>;
  readonly sealedSecrets: SealedSecrets;
  readonly metrics: Pick<WorkerMetrics, 'providerRevocations'>;
  readonly refusals: RefusalNotes;
  readonly registry: Metrics['registry'];
  readonly logger: Logger;
  readonly now: () => Date;
}

const countIntervalMs = 15_000;

/** Wires the revocation of providers' tokens, with its metrics and audit events. Its pollers need only MongoDB. */
export function createRevocations({
  config,
  stores,
  metrics,
  refusals,
  registry,
  logger,
  ...shared
}: RevocationsDeps): Poller[] {
  const { providerRevocations } = stores;
  const writeAudit = createAuditLog(logger);
  const shown = ({ _id: identity_id, user_id, provider }: ProviderRevocationDocument) => ({
    ...{ user_id, identity_id, provider },
  });
  const run = createRevokeTokens({
    ...shared,
    providerRevocations,
    findClient: createFindClient(config, shared.now),
    random: Math.random,
    onRevoked(row) {
      refusals.note(row.provider, undefined);
      metrics.providerRevocations.inc({ provider: row.provider, outcome: 'revoked' });
      writeAudit({ event: 'provider_token.revoked', outcome: 'success', ...shown(row) });
    },
    onFailed(row, err) {
      const { fault = 'unavailable' } = err;
      refusals.note(row.provider, fault);
      const outcome = fault === 'wrong_client' ? fault : 'failed';
      metrics.providerRevocations.inc({ provider: row.provider, outcome });
      const notified = { err, ...shown(row), reason: fault, attempts: row.attempts };
      logger.warn(notified, 'token of a provider not revoked: it is tried again');
    },
    onGivenUp(row) {
      metrics.providerRevocations.inc({ provider: row.provider, outcome: 'given_up' });
      writeAudit({ event: 'provider_token.given_up', outcome: 'failure', ...shown(row) });
    },
  });
  let pending: number | undefined;
  createWorkGauge(registry, 'auth_provider_revocations_pending', () => pending);
  async function count(): Promise<void> {
    pending = await providerRevocations.count();
  }
  const poller = (run: () => Promise<void>, intervalMs: number, what: string) =>
    createPoller({ run, intervalMs, onError: createErrorLog(logger, what) });
  return [
    poller(run, config.ERASURE_INTERVAL_MS, "revocation of providers' tokens"),
    poller(count, countIntervalMs, "count of providers' tokens"),
  ];
}

/** Finds clients. The library is loaded with the first token. */
function createFindClient(
  { IDENTITY_PROVIDERS }: RevocationsDeps['config'],
  now: () => Date,
): RevokeTokensDeps['findClient'] {
  const providers = readProviders(IDENTITY_PROVIDERS);
  return async (name) => {
    const exchange = providers.get(name)?.exchange;
    if (exchange === undefined) return;
    const { createProviderClient } = await import('@auth-account/tokens/provider-client');
    return createProviderClient(exchange, { fetch, now });
  };
}
