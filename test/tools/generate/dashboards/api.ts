import { type CounterRow, counterTable } from '../../../../services/api/src/audit/audit-row.ts';
import { lines, of, quantile, rate, spread } from './panel.ts';
import { processRow } from './process-row.ts';
import type { Dashboard, Row } from './to-grafana.ts';

const duration = 'http_request_duration_seconds';

const requests: Row = {
  title: 'Requests',
  panels: [
    lines([[rate(`${duration}_count`, 'method, route'), '{{method}} {{route}}']], {
      title: 'Requests by route',
      description: 'Route templates; none: no route matched.',
      unit: 'reqps',
    }),
    lines([[rate(`${duration}_count`, 'route, status', 'status=~"[45].."'), '{{route}} {{status}}']], {
      title: 'Errors by route',
      description: '4xx are errors of the clients, 5xx ours.',
      unit: 'reqps',
    }),
    lines([[quantile(0.99, duration, 'route'), '{{route}}']], {
      title: 'Duration by route, p99',
      description: 'Exemplars lead to their traces.',
      unit: 's',
    }),
  ],
};

const passwords: Row = {
  title: 'Password hashes',
  panels: [
    lines(spread('auth_password_hash_duration_seconds'), {
      title: 'Duration',
      description: 'Without the wait for a slot.',
      unit: 's',
    }),
    lines(spread('auth_password_hash_wait_seconds'), {
      title: 'Wait for a slot',
      description: 'Of those hashes that got one.',
      unit: 's',
    }),
    lines(
      [
        [`sum(auth_password_hash_slots${of()})`, 'slots'],
        [`sum(auth_password_hashes_running${of()})`, 'running'],
        [`sum(auth_password_hashes_waiting${of()})`, 'waiting'],
      ],
      { title: 'Queue', description: 'All processes together.', unit: 'none' },
    ),
    lines([[rate('auth_password_hashes_shed_total', 'reason'), '{{reason}}']], {
      title: 'Shed',
      description: 'full: no slot in the queue; late: waited too long. Answered with 503 ERR-OVERLOADED.',
      unit: 'ops',
    }),
  ],
};

/** A panel for each counter of audit events, from the events' table. */
const events: Row = {
  title: 'Events of the audit log',
  panels: Object.values<CounterRow>(counterTable).flatMap(({ name, label, by, title, help }) => {
    const labels = [by, label].flatMap((each) => each ?? []);
    const legend = labels.map((each) => `{{${each}}}`).join(' ');
    const text = { description: `${help}.`, unit: 'ops' } as const;
    return title === undefined ? [] : [lines([[rate(name, labels.join(', ')), legend]], { title, ...text })];
  }),
};

const registrations: Row = {
  title: 'Registrations and tokens',
  panels: [
    lines([[rate('auth_registrations_total', 'mode, outcome'), '{{mode}} {{outcome}}']], {
      title: 'Registrations',
      description: 'By mode and outcome.',
      unit: 'ops',
    }),
    lines([[rate('auth_revocation_feed_reads_total', 'secret, content'), '{{secret}} {{content}}']], {
      title: 'Revocation feed',
      description: 'Questions of internal services by their secret; page: a reading of more than 5,000 denials.',
      unit: 'ops',
    }),
    lines([[rate('access_token_lookups_total', 'result'), '{{result}}']], {
      title: 'Access tokens',
      description: 'hit: verified before; miss: its signature was looked at.',
      unit: 'ops',
    }),
  ],
};

const codes: Row = {
  title: 'Codes by e-mail',
  panels: [
    lines([[rate('auth_codes_total', 'purpose, outcome', 'outcome=~"requested|resent"'), '{{purpose}} {{outcome}}']], {
      title: 'Codes asked for',
      description: 'Also those for addresses without an account, to which nobody mails; the worker has the mails.',
      unit: 'ops',
    }),
    lines([[rate('auth_codes_total', 'purpose', 'outcome="confirmed"'), '{{purpose}}']], {
      title: 'Codes confirmed',
      description: 'Far fewer than were asked for: mails do not arrive.',
      unit: 'ops',
    }),
    lines(
      [
        [
          rate('auth_codes_total', 'purpose, outcome', 'outcome!~"requested|resent|confirmed"'),
          '{{purpose}} {{outcome}}',
        ],
      ],
      {
        title: 'Codes failed',
        description:
          'expired: typed too late; dead: used, replaced or tried too often; unknown: no challenge has this id.',
        unit: 'ops',
      },
    ),
  ],
};

const signIn: Row = {
  title: 'Second factors and proofs of devices',
  panels: [
    lines([[rate('auth_second_factors_total', 'method, outcome'), '{{method}} {{outcome}}']], {
      title: 'Second factors',
      description: 'Many failed ones after right passwords: passwords have leaked. All of totp: a clock is wrong.',
      unit: 'ops',
    }),
    lines([[rate('auth_login_failures_total', '', 'reason="second_factor_required"'), 'asked for']], {
      title: 'Second factors asked for',
      description: 'At logins. Far more than are shown: somebody has passwords, or apps do not know the step.',
      unit: 'ops',
    }),
    lines([[rate('auth_device_proof_faults_total', 'fault'), '{{fault}}']], {
      title: 'Wrong proofs of devices',
      description: 'DPoP headers; iat: the clock of the device or of the api is wrong.',
      unit: 'ops',
    }),
  ],
};

const providers: Row = {
  title: 'Providers',
  panels: [
    lines([[rate('auth_provider_logins_total', 'provider, outcome'), '{{provider}} {{outcome}}']], {
      title: 'Logins, registrations and links',
      description: 'Of right ID tokens. address_taken: people log in by another method first.',
      unit: 'ops',
    }),
    lines([[rate('auth_provider_tokens_total', 'provider, result', 'result!="accepted"'), '{{provider}} {{result}}']], {
      title: 'ID tokens refused',
      description: 'By their first fault. issuer, audience: the provider or our configuration has changed.',
      unit: 'ops',
    }),
    lines(
      [
        [rate('auth_provider_key_fetches_total', 'provider, outcome'), '{{provider}} {{outcome}}, per second'],
        [`max by (provider) (auth_provider_keys_overdue_seconds${of()})`, '{{provider}} overdue, seconds'],
      ],
      { title: 'Keys', description: 'Overdue for an hour: nobody gets in by that provider.', unit: 'short' },
    ),
  ],
};

const stores: Row = {
  title: 'MongoDB and Redis',
  panels: [
    lines([[rate('auth_transactions_total', 'outcome'), '{{outcome}}']], {
      title: 'Transactions',
      description: 'refused: what it found forbids it; failed: MongoDB.',
      unit: 'ops',
    }),
    lines(
      [
        [rate('auth_transaction_retries_total', 'kind'), '{{kind}}'],
        [rate('auth_session_holds_total', 'outcome'), 'hold of sessions {{outcome}}'],
      ],
      {
        title: 'Transactions tried again',
        description:
          'work: a conflict with another write; commit: its result was not known; hold: refreshes wait until the change has ended.',
        unit: 'ops',
      },
    ),
    lines(
      [
        [rate('auth_deny_list_fallbacks_total'), 'deny list asked in MongoDB'],
        [rate('auth_login_limits_insured_total'), 'limits counted by the process'],
        [rate('auth_events_left_to_relay_total'), 'events left to the relay'],
        [rate('auth_revocation_announcements_lost_total'), 'revocations not announced'],
        [rate('auth_missing_keys_total', 'key'), '503 for want of a {{key}} key'],
      ],
      { title: 'Without Redis or keys', description: 'Done in another way, left to the worker, refused.', unit: 'ops' },
    ),
  ],
};

export const api: Dashboard = {
  name: 'api',
  title: 'API',
  description:
    'Requests, password hashes, events, second factors, providers, registrations and tokens, codes by e-mail, stores.',
  job: 'auth-api',
  rows: [requests, passwords, events, signIn, providers, registrations, codes, stores, processRow],
};
