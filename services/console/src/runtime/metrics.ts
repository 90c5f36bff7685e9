import { createZeroedCounter, type Metrics } from '@auth-account/telemetry';
import { Counter, Histogram } from 'prom-client';
import { actionNames } from '../contract/roles.ts';

export type ConsoleMetrics = ReturnType<typeof createConsoleMetrics>;

/** Outcomes of a sign-in, as in the audit log's `console.sign_in_refused`. */
export const signInRefusals = ['not_begun', 'refused', 'no_role', 'unavailable', 'limited'] as const;
export type SignInRefusal = (typeof signInRefusals)[number];

/** Limits on what staff do. */
export const consoleLimits = ['sign_ins', 'lookups', 'actions'] as const;
export type ConsoleLimit = (typeof consoleLimits)[number];

/** Creates the console's own metrics. */
export function createConsoleMetrics({ registry }: Pick<Metrics, 'registry'>) {
  return {
    signIns: createZeroedCounter({
      registry,
      name: 'auth_console_sign_ins_total',
      help: 'Sign-ins of staff by outcome: signed_in, not_begun (here, or too long ago), refused (by the provider, or its answer), no_role, unavailable (the provider), limited',
      values: { outcome: ['signed_in', ...signInRefusals] },
    }),
    requestDuration: new Histogram({
      name: 'auth_console_request_duration_seconds',
      help: 'Duration of requests to the console by route and status',
      labelNames: ['route', 'status'] as const,
      buckets: [0.01, 0.05, 0.25, 1, 5],
      registers: [registry],
    }),
    lookups: new Counter({
      name: 'auth_console_lookups_total',
      help: 'Looks of staff at personal data, by route',
      labelNames: ['route'] as const,
      registers: [registry],
    }),
    limited: createZeroedCounter({
      registry,
      name: 'auth_console_limited_total',
      help: 'Requests of staff refused by a limit: sign_ins (of a network), lookups, actions (of a person)',
      values: { limit: consoleLimits },
    }),
    actions: createZeroedCounter({
      registry,
      name: 'auth_console_actions_total',
      help: 'Actions of staff by outcome: done, refused, failed (not available, or a bug)',
      values: { action: actionNames, outcome: ['done', 'refused', 'failed'] },
    }),
    consents: createZeroedCounter({
      registry,
      name: 'auth_console_consents_total',
      help: 'Consents of a second person by outcome: asked, given, refused',
      values: { outcome: ['asked', 'given', 'refused'] },
    }),
  };
}
