import { SpaceCreationMode } from '@auth-account/contracts/http/register';
import { createTransactionMetrics, createZeroedCounter, type Metrics } from '@auth-account/telemetry';
import { tokenFaults } from '@auth-account/verifier/access-token';
import { Counter } from 'prom-client';
import { createAuditCounters } from '../audit/audit-counters.ts';
import { createRequestDuration } from '../http/request-duration.ts';
import { createHashMetrics } from '../security/hash-metrics.ts';
import { createProviderMetrics } from '../security/providers/provider-metrics.ts';
import { proofFaults } from '../security/verify-device-proof.ts';

export type ApiMetrics = ReturnType<typeof createApiMetrics>;

/** The api's own metrics, with those of the providers of these names. */
export function createApiMetrics({ registry, setKeyFileRefused }: Metrics, providers: readonly string[]) {
  return {
    setKeyFileRefused,
    requestDuration: createRequestDuration(registry),
    ...createAuditCounters(registry, providers),
    registrations: createZeroedCounter({
      registry,
      name: 'auth_registrations_total',
      help: 'Registrations by mode and outcome: created, replayed (Idempotency-Key), refused, failed (503, 500)',
      values: { mode: registrationModes, outcome: ['created', 'replayed', 'refused', 'failed'] },
    }),
    ...createHashMetrics(registry),
    ...createProviderMetrics(registry, providers),
    ...createTransactionMetrics(registry),
    ...createFallbackMetrics(registry),
    revocationReads: new Counter({
      name: 'auth_revocation_feed_reads_total',
      help: 'Answers of the revocation feed, by the secret of the internal service and their content: nothing, news, page, refused',
      labelNames: ['secret', 'content'],
      registers: [registry],
    }),
    accessTokens: createZeroedCounter({
      registry,
      name: 'auth_access_tokens_total',
      help: 'Access tokens presented, by result: accepted, expired, or their first other fault: malformed, key (unknown), signature, issuer, audience, early (clocks), long (life), claims',
      values: { result: ['accepted', 'expired', ...tokenFaults] },
    }),
    tokenLookups: createZeroedCounter({
      registry,
      name: 'access_token_lookups_total',
      help: 'Access tokens looked at, by result: hit (verified before), miss',
      values: { result: ['hit', 'miss'] },
    }),
    missingKeys: createZeroedCounter({
      registry,
      name: 'auth_missing_keys_total',
      help: 'Requests answered with 503 because a key was not in the file of this process, by its kind',
      values: { key: ['server', 'refresh'] },
    }),
    deviceProofs: createZeroedCounter({
      registry,
      name: 'auth_device_proof_faults_total',
      help: 'DPoP headers of logins and refreshes that are no proof, by the first fault: form, htm, htu, iat (clocks), signature',
      values: { fault: proofFaults },
    }),
  };
}

const registrationModes: readonly string[] = SpaceCreationMode.enum;

/** Creates the counters of work that is done otherwise while Redis is away. */
function createFallbackMetrics(registry: Metrics['registry']) {
  const registers = [registry];
  return {
    loginsInsured: new Counter({
      name: 'auth_login_limits_insured_total',
      help: 'Steps of the limits of passwords and factors that were taken without Redis; each process counts for itself',
      registers,
    }),
    eventsLeft: new Counter({
      name: 'auth_events_left_to_relay_total',
      help: 'Committed events that could not be published at once',
      registers,
    }),
    denyListFallbacks: new Counter({
      name: 'auth_deny_list_fallbacks_total',
      help: 'Access tokens that were checked in MongoDB because the deny list could not be asked',
      registers,
    }),
    announcementsLost: new Counter({
      name: 'auth_revocation_announcements_lost_total',
      help: 'Revocations and changes of group that could not be announced at once',
      registers,
    }),
  };
}
