import { CodePurpose, NotificationPurpose } from '@auth-account/contracts/events';
import { createTransactionMetrics, createZeroedCounter, type Metrics } from '@auth-account/telemetry';
import { Counter, Gauge, Histogram } from 'prom-client';

/** Outcome of an attempt to deliver an event. */
export type DeliveryOutcome = 'delivered' | 'failed' | 'given_up';
const outcomes: readonly DeliveryOutcome[] = ['delivered', 'failed', 'given_up'];

/** Counts of the events that wait in the outbox, and of the events that were given up. */
export interface Backlog {
  readonly depth: number;
  readonly oldest: Date | undefined;
  /** Subscriber → number of its dead letters. */
  readonly deadLetters: ReadonlyMap<string, number>;
}

/** Outcome of an attempt to erase an account. */
export type ErasureOutcome = 'erased' | 'failed';
const erasureOutcomes: readonly ErasureOutcome[] = ['erased', 'failed'];

/** Outcome of an attempt to let a provider revoke a token. */
const revocationOutcomes = ['revoked', 'failed', 'wrong_client', 'given_up'] as const;

/** Outcome of an attempt at a forced logout. */
export type ForceLogoutOutcome = 'done' | 'repeated' | 'failed' | 'malformed';
const forceLogoutOutcomes: readonly ForceLogoutOutcome[] = ['done', 'repeated', 'failed', 'malformed'];

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

/** Creates the gauges of the backlog. `backlog` returns the last count, undefined before the first. */
export function createBacklogGauges(
  registry: Metrics['registry'],
  subscribers: readonly string[],
  backlog: () => Backlog | undefined,
): void {
  const registers = [registry];
  new Gauge({
    name: 'auth_outbox_depth',
    help: 'Events that some subscriber does not have yet, 100,000 at most',
    registers,
    collect() {
      this.set(backlog()?.depth ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'auth_outbox_oldest_age_seconds',
    help: 'Age of the oldest event that some subscriber does not have yet; 0 if there is none',
    registers,
    collect() {
      const seen = backlog();
      const oldest = seen?.oldest?.getTime() ?? Date.now();
      this.set(seen === undefined ? Number.NaN : (Date.now() - oldest) / 1_000);
    },
  });
  new Gauge<'subscriber'>({
    name: 'auth_dead_letters',
    help: 'Events that were given up for the subscriber and neither replayed nor discarded, 100,000 at most',
    labelNames: ['subscriber'],
    registers,
    collect() {
      this.reset();
      const seen = backlog()?.deadLetters;
      if (seen === undefined) return;
      for (const subscriber of new Set([...subscribers, ...seen.keys()]))
        this.set({ subscriber }, seen.get(subscriber) ?? 0);
    },
  });
}

/** Work that the worker counts in MongoDB, by gauge. */
const workGauges = {
  auth_erasures_overdue: 'Accounts that should have been erased ten minutes ago or earlier, 100,000 at most',
  auth_factor_removals_overdue:
    'Second factors that should have been removed ten minutes ago or earlier, 100,000 at most',
  auth_provider_revocations_pending: 'Tokens of providers that must still be revoked',
} as const;

type WorkGauge = keyof typeof workGauges;
export const workGaugeNames = Object.keys(workGauges) as WorkGauge[];

/** Creates a gauge of work that waits. `last` returns the last count, undefined before the first. */
export function createWorkGauge(registry: Metrics['registry'], name: WorkGauge, last: () => number | undefined): void {
  new Gauge({
    name,
    help: workGauges[name],
    registers: [registry],
    collect() {
      this.set(last() ?? Number.NaN);
    },
  });
}

/**
 * Creates the worker's own metrics, except those of {@link createBacklogGauges} and {@link createWorkGauge}, for these
 * webhooks and providers.
 */
export function createWorkerMetrics(
  { registry }: Metrics,
  webhooks: readonly string[],
  provider: readonly string[] = [],
) {
  return {
    ...createDeliveryMetrics(registry, webhooks),
    forceLogouts: createZeroedCounter({
      registry,
      name: 'auth_force_logouts_total',
      help: 'Attempts to carry out forced-logout commands',
      values: { outcome: forceLogoutOutcomes },
    }),
    erasures: createZeroedCounter({
      registry,
      name: 'auth_erasures_total',
      help: 'Attempts to erase accounts whose deletion was ordered',
      values: { outcome: erasureOutcomes },
    }),
    providerRevocations: createZeroedCounter({
      registry,
      name: 'auth_provider_revocations_total',
      help: 'Attempts to let providers revoke the tokens of identities that are gone; wrong_client: the provider refused our key or client id',
      values: { provider, outcome: revocationOutcomes },
    }),
    ...createTransactionMetrics(registry),
    lostSecrets: new Gauge({
      name: 'auth_secrets_without_key',
      help: 'Seeds and tokens of providers whose server key is not in the file of this process',
      registers: [registry],
    }),
    reconciled: new Counter({
      name: 'auth_revocations_reconciled_total',
      help: 'Revocations that Redis did not have and that were written from MongoDB',
      registers: [registry],
    }),
    rebuilds: new Counter({
      name: 'auth_deny_list_rebuilds_total',
      help: 'Rebuilds of the whole deny list',
      registers: [registry],
    }),
  };
}

/** Outcome of an attempt at a mail; `void`: there was no recipient, or no content any more. */
const mailOutcomes = ['sent', 'failed', 'expired', 'void'] as const;

function createDeliveryMetrics(registry: Metrics['registry'], webhooks: readonly string[]) {
  const registers = [registry];
  return {
    deliveries: createZeroedCounter({
      registry,
      name: 'auth_event_deliveries_total',
      help: 'Attempts to deliver events to webhooks and by mail',
      values: { subscriber: webhooks, outcome: outcomes },
    }),
    deliveryDuration: new Histogram<'subscriber'>({
      name: 'auth_event_delivery_duration_seconds',
      help: 'Duration of one delivery attempt to a webhook or by mail',
      labelNames: ['subscriber'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      enableExemplars: true,
      registers,
    }),
    expired: new Counter<'subscriber'>({
      name: 'auth_events_expired_total',
      help: 'Requests to mail a code that were dropped for the subscriber because the code had expired',
      labelNames: ['subscriber'],
      registers,
    }),
    broughtForward: new Counter<'subscriber'>({
      name: 'auth_events_brought_forward_total',
      help: 'Waiting events that were brought forward because the subscriber took an event again, or an operator ordered it',
      labelNames: ['subscriber'],
      registers,
    }),
    mails: createZeroedCounter({
      registry,
      name: 'auth_mails_total',
      help: 'Attempts to send mails',
      values: { purpose: [...CodePurpose.enum, ...NotificationPurpose.enum], outcome: mailOutcomes },
    }),
    parked: new Gauge<'subscriber'>({
      name: 'auth_subscriber_parked',
      help: '1 while the deliveries to the webhook are held up because it answered 410 Gone',
      labelNames: ['subscriber'],
      registers,
    }),
    relayClaims: new Counter({
      name: 'auth_outbox_claims_total',
      help: 'Outbox rows that the relay took up because they had been left',
      registers,
    }),
  };
}
