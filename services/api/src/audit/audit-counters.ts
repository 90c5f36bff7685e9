import { Counter, type OpenMetricsContentType, type Registry } from 'prom-client';

export type AuditCounters = ReturnType<typeof createAuditCounters>;

/** The counters that the audit log's events keep. */
export function createAuditCounters(registers: Registry<OpenMetricsContentType>[]) {
  return {
    logins: new Counter({
      name: 'auth_logins_total',
      help: 'Logins whose password was verified, by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    refreshes: new Counter({
      name: 'auth_refreshes_total',
      help: 'Refreshes by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    rateLimited: new Counter({
      name: 'auth_rate_limited_total',
      help: 'Requests refused with 429, by rule',
      labelNames: ['rule'],
      registers,
    }),
  };
}
