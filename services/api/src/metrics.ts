import type { Metrics } from '@auth-account/telemetry';
import { Counter, Gauge, Histogram } from 'prom-client';
import { createAuditCounters } from './audit/audit-counters.ts';
import type { RequestLabels } from './http/middleware/observe-request.ts';

export type ApiMetrics = ReturnType<typeof createApiMetrics>;

/** The api's own metrics. */
export function createApiMetrics({ registry }: Metrics) {
  const registers = [registry];
  return {
    ...createAuditCounters(registers),
    /** `waiting` is read at each scrape. */
    observeHashQueue(waiting: () => number) {
      new Gauge({
        name: 'auth_password_hashes_waiting',
        help: 'Password hashes that wait for a slot',
        registers,
        collect() {
          this.set(waiting());
        },
      });
    },
    requestDuration: new Histogram<RequestLabels>({
      name: 'http_request_duration_seconds',
      help: 'Duration of HTTP requests by route template',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    hashesShed: new Counter({
      name: 'auth_password_hashes_shed_total',
      help: 'Password hashes refused because the queue was full or the wait too long',
      labelNames: ['reason'],
      registers,
    }),
    transactionRetries: new Counter({
      name: 'auth_transaction_retries_total',
      help: 'Transactions whose work or commit was tried again',
      labelNames: ['kind'],
      registers,
    }),
    loginsInsured: new Counter({
      name: 'auth_login_limits_insured_total',
      help: 'Steps of login limits that were taken without Redis, each process counting for itself',
      registers,
    }),
    eventsLeft: new Counter({
      name: 'auth_events_left_to_relay_total',
      help: 'Committed events that could not be handed over at once',
      registers,
    }),
    denyListFallbacks: new Counter({
      name: 'auth_deny_list_fallbacks_total',
      help: 'Access tokens that were held against MongoDB because the deny list could not be asked',
      registers,
    }),
    announcementsLost: new Counter({
      name: 'auth_revocation_announcements_lost_total',
      help: 'Revocations that could not be announced at once',
      registers,
    }),
  };
}
