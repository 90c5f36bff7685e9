import { type CounterRow, counterTable } from '../../../../services/api/src/audit/audit-row.ts';
import { lines, of, quantile, rate, rates, spread } from './panel.ts';
import { processRow, tokenLookups, triedAgain } from './shared-panels.ts';
import type { Dashboard, Row } from './to-grafana.ts';

const duration = 'http_request_duration_seconds';

const requests: Row = {
  title: 'Requests',
  panels: [
    lines('reqps', 'Requests by route', 'Route templates; none: no route matched.', [
      rates(`${duration}_count`, 'method, route'),
    ]),
    lines('reqps', 'Errors by route', '4xx are errors of the clients, 5xx ours.', [
      rates(`${duration}_count`, 'route, status', 'status=~"[45].."'),
    ]),
    lines('s', 'Duration by route, p99', 'Exemplars lead to their traces.', [
      [quantile(0.99, duration, 'route'), '{{route}}'],
    ]),
  ],
};

const passwords: Row = {
  title: 'Password hashes',
  panels: [
    lines('s', 'Duration', 'Without the wait for a slot.', spread('auth_password_hash_duration_seconds')),
    lines('s', 'Wait for a slot', 'Of those hashes that got one.', spread('auth_password_hash_wait_seconds')),
    lines('none', 'Queue', 'All processes together.', [
      [`sum(auth_password_hash_slots${of()})`, 'slots'],
      [`sum(auth_password_hashes_running${of()})`, 'running'],
      [`sum(auth_password_hashes_waiting${of()})`, 'waiting'],
    ]),
    lines('ops', 'Shed', 'full: no slot in the queue; late: waited too long. Answered with 503 ERR-OVERLOADED.', [
      rates('auth_password_hashes_shed_total', 'reason'),
    ]),
  ],
};

/** A panel for each counter of audit events, from the events' table. */
const events: Row = {
  title: 'Events of the audit log',
  panels: Object.values<CounterRow>(counterTable).flatMap(({ name, label, by, title, help }) => {
    const labels = [by, label].flatMap((each) => each ?? []);
    return title === undefined ? [] : [lines('ops', title, `${help}.`, [rates(name, labels.join(', '))])];
  }),
};

const registrations: Row = {
  title: 'Registrations and tokens',
  panels: [
    lines('ops', 'Registrations', 'By mode and outcome.', [rates('auth_registrations_total', 'mode, outcome')]),
    lines(
      'ops',
      'Revocation feed',
      'Questions of internal services by their secret; page: a reading of more than 5,000 denials.',
      [rates('auth_revocation_feed_reads_total', 'secret, content')],
    ),
    tokenLookups,
  ],
};

const codes: Row = {
  title: 'Codes by e-mail',
  panels: [
    lines(
      'ops',
      'Codes asked for',
      'Also those for addresses without an account, to which nobody mails; the worker has the mails.',
      [rates('auth_codes_total', 'purpose, outcome', 'outcome=~"requested|resent"')],
    ),
    lines('ops', 'Codes confirmed', 'Far fewer than were asked for: mails do not arrive.', [
      rates('auth_codes_total', 'purpose', 'outcome="confirmed"'),
    ]),
    lines(
      'ops',
      'Codes failed',
      'expired: typed too late; dead: used, replaced or tried too often; unknown: no challenge has this id.',
      [rates('auth_codes_total', 'purpose, outcome', 'outcome!~"requested|resent|confirmed"')],
    ),
  ],
};

const signIn: Row = {
  title: 'Second factors and proofs of devices',
  panels: [
    lines(
      'ops',
      'Second factors',
      'Many failed ones after right passwords: passwords have leaked. All of totp: a clock is wrong.',
      [rates('auth_second_factors_total', 'method, outcome')],
    ),
    lines(
      'ops',
      'Second factors asked for',
      'At logins. Far more than are shown: somebody has passwords, or apps do not know the step.',
      [[rate('auth_login_failures_total', '', 'reason="second_factor_required"'), 'asked for']],
    ),
    lines('ops', 'Wrong proofs of devices', 'DPoP headers; iat: the clock of the device or of the api is wrong.', [
      rates('auth_device_proof_faults_total', 'fault'),
    ]),
  ],
};

const providers: Row = {
  title: 'Providers',
  panels: [
    lines(
      'ops',
      'Logins, registrations and links',
      'Of right ID tokens. address_taken: people log in by another method first.',
      [rates('auth_provider_logins_total', 'provider, outcome')],
    ),
    lines(
      'ops',
      'ID tokens refused',
      'By their first fault. issuer, audience: the provider or our configuration has changed.',
      [rates('auth_provider_tokens_total', 'provider, result', 'result!="accepted"')],
    ),
    lines('short', 'Keys', 'Overdue for an hour: nobody gets in by that provider.', [
      [rate('auth_provider_key_fetches_total', 'provider, outcome'), '{{provider}} {{outcome}}, per second'],
      [`max by (provider) (auth_provider_keys_overdue_seconds${of()})`, '{{provider}} overdue, seconds'],
    ]),
  ],
};

const stores: Row = {
  title: 'MongoDB and Redis',
  panels: [
    lines('ops', 'Transactions', 'refused: what it found forbids it; failed: MongoDB.', [
      rates('auth_transactions_total', 'outcome'),
    ]),
    triedAgain,
    lines('ops', 'Without Redis or keys', 'Done in another way, left to the worker, refused.', [
      [rate('auth_deny_list_fallbacks_total'), 'deny list asked in MongoDB'],
      [rate('auth_login_limits_insured_total'), 'limits counted by the process'],
      [rate('auth_events_left_to_relay_total'), 'events left to the relay'],
      [rate('auth_revocation_announcements_lost_total'), 'revocations not announced'],
      [rate('auth_missing_keys_total', 'key'), '503 for want of a {{key}} key'],
    ]),
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
