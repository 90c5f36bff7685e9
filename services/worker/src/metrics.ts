import type { Metrics } from '@auth-account/telemetry';
import { Counter, Gauge, Histogram } from 'prom-client';

/** How a delivery attempt ended. */
export type DeliveryOutcome = 'delivered' | 'failed' | 'given_up';
const outcomes: readonly DeliveryOutcome[] = ['delivered', 'failed', 'given_up'];

/** What waits in the outbox. */
export interface Backlog {
  readonly depth: number;
  readonly oldest: Date | undefined;
}

/** How an attempt at a forced logout ended. */
export type ForceLogoutOutcome = 'done' | 'repeated' | 'failed' | 'malformed';
const forceLogoutOutcomes: readonly ForceLogoutOutcome[] = ['done', 'repeated', 'failed', 'malformed'];

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

/** The worker's own metrics. `backlog` is the last one that was measured, undefined before the first. */
export function createWorkerMetrics(
  { registry }: Metrics,
  webhooks: readonly string[],
  backlog: () => Backlog | undefined,
) {
  const registers = [registry];
  new Gauge({
    name: 'auth_outbox_depth',
    help: 'Events that some subscriber does not have yet',
    registers,
    collect() {
      this.set(backlog()?.depth ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'auth_outbox_oldest_age_seconds',
    help: 'Age of the oldest event that some subscriber does not have yet; 0 where there is none',
    registers,
    collect() {
      const seen = backlog();
      const oldest = seen?.oldest?.getTime() ?? Date.now();
      this.set(seen === undefined ? Number.NaN : (Date.now() - oldest) / 1_000);
    },
  });
  const deliveries = new Counter<'subscriber' | 'outcome'>({
    name: 'auth_event_deliveries_total',
    help: 'Attempts to deliver events to webhooks',
    labelNames: ['subscriber', 'outcome'],
    registers,
  });
  for (const subscriber of webhooks) {
    for (const outcome of outcomes) deliveries.inc({ subscriber, outcome }, 0);
  }
  const forceLogouts = new Counter<'outcome'>({
    name: 'auth_force_logouts_total',
    help: 'Attempts to carry out forced-logout commands',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of forceLogoutOutcomes) forceLogouts.inc({ outcome }, 0);
  return {
    deliveries,
    forceLogouts,
    transactionRetries: new Counter<'kind'>({
      name: 'auth_transaction_retries_total',
      help: 'Transactions whose work or commit was tried again',
      labelNames: ['kind'],
      registers,
    }),
    deliveryDuration: new Histogram<'subscriber'>({
      name: 'auth_event_delivery_duration_seconds',
      help: 'Duration of one delivery attempt to a webhook',
      labelNames: ['subscriber'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    relayClaims: new Counter({
      name: 'auth_outbox_claims_total',
      help: 'Outbox rows that the relay took up because they had been left',
      registers,
    }),
    reconciled: new Counter({
      name: 'auth_revocations_reconciled_total',
      help: 'Revocations that Redis did not have and that were written from MongoDB',
      registers,
    }),
    rebuilds: new Counter({
      name: 'auth_deny_list_rebuilds_total',
      help: 'Times that the deny list was written again as a whole',
      registers,
    }),
  };
}
