import { createZeroedCounter, type Metrics } from '@auth-account/telemetry';
import { Gauge } from 'prom-client';

/** Faults of ID tokens. From `issuer` on, the provider itself has signed it. */
export const tokenFaults = [
  'malformed',
  'algorithm',
  'key',
  'signature',
  'issuer',
  'audience',
  'time',
  'nonce',
  'subject',
  'type',
] as const;
export type TokenFault = (typeof tokenFaults)[number];

/** Ends of a login, registration or link by a provider, besides tokens that do not count. */
export const providerOutcomes = [
  'logged_in',
  'registered',
  'linked',
  'second_factor_required',
  'registration_required',
  'identity_disabled',
  'address_required',
  'address_taken',
] as const;
export type ProviderOutcome = (typeof providerOutcomes)[number];

/** Creates the metrics of the providers of those names, which come from the configuration. */
export function createProviderMetrics(registry: Metrics['registry'], provider: readonly string[]) {
  const overdueOf = new Map<string, () => number>();
  new Gauge({
    name: 'auth_provider_keys_overdue_seconds',
    help: "Time since which a provider's keys should have been fetched anew, if the last attempt failed, else 0; they are used for an hour",
    labelNames: ['provider'],
    registers: [registry],
    collect() {
      for (const name of provider) this.set({ provider: name }, overdueOf.get(name)?.() ?? 0);
    },
  });
  return {
    providerKeyFetches: createZeroedCounter({
      registry,
      name: 'auth_provider_key_fetches_total',
      help: "Requests for a provider's keys, by outcome",
      values: { provider, outcome: ['fetched', 'failed'] },
    }),
    providerTokens: createZeroedCounter({
      registry,
      name: 'auth_provider_tokens_total',
      help: 'ID tokens by what they came to: accepted, or their first fault; from issuer on, the provider has signed them: malformed, algorithm, key (unknown), signature, issuer, audience, time, nonce, subject, type',
      values: { provider, result: ['accepted', ...tokenFaults] },
    }),
    providerLogins: createZeroedCounter({
      registry,
      name: 'auth_provider_logins_total',
      help: 'Logins, registrations and links with a right ID token, by outcome',
      values: { provider, outcome: providerOutcomes },
    }),
    /** Sets the source of `auth_provider_keys_overdue_seconds`. */
    watchProviderKeys: (name: string, overdueSeconds: () => number) => void overdueOf.set(name, overdueSeconds),
  };
}
