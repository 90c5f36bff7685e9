import { gained, lines, of, quantile, rate, rates, stat } from './panel.ts';
import type { Dashboard, Row } from './to-grafana.ts';

const everything = 'route=~"/api/v1/.+"';
const hashing = 'route=~"/api/v1/auth/(register|login)"';
const plain = `${everything},route!~"/api/v1/auth/(register|login)"`;
const duration = 'http_request_duration_seconds';
const answered = 'status!~"5.."';
const errors = `${gained(`${duration}_count`, `${everything},status=~"5.."`)} / ${gained(`${duration}_count`, everything)}`;
const inTime = (which: string, le: string) =>
  `${gained(`${duration}_bucket`, `${which},${answered},${le}`)} / ${gained(`${duration}_count`, `${which},${answered}`)}`;
const oneSecond = 'le=~"1(\\\\.0)?"';

/** Returns thresholds that are red below the objective. */
const good = (objective: number) =>
  [
    [undefined, 'red'],
    [objective, 'green'],
  ] as const;
/** Returns thresholds that are yellow, then red. */
const bad = (warning: number, critical: number) =>
  [
    [undefined, 'green'],
    [warning, 'yellow'],
    [critical, 'red'],
  ] as const;

const areWeFine: Row = {
  title: 'Are we fine?',
  panels: [
    stat('count(ALERTS{alertname=~"Auth.*",alertstate="firing",namespace=~"$namespace"}) or vector(0)', {
      title: 'Alerts',
      description: 'Firing now; each has a runbook in docs/runbooks.',
      unit: 'none',
      steps: bad(1, 2),
    }),
    stat(`1 - ${errors}`, {
      title: 'Availability',
      description: 'Answers of /api/v1 other than 5xx, in the time shown. Objective: 99.9 % over 30 days.',
      unit: 'percentunit',
      decimals: 3,
      steps: good(0.999),
    }),
    stat(`1 - (${errors}) / 0.001`, {
      title: 'Error budget left',
      description: 'Of the time shown: choose 30 days for the objective. Below 0 % the objective is missed.',
      unit: 'percentunit',
      decimals: 1,
      steps: [
        [undefined, 'red'],
        [0, 'yellow'],
        [0.5, 'green'],
      ],
    }),
    stat(inTime(plain, 'le="0.25"'), {
      title: 'Within 250 ms',
      description: 'Requests without a password hash. Objective: 99 %.',
      unit: 'percentunit',
      decimals: 2,
      steps: good(0.99),
    }),
    stat(inTime(hashing, oneSecond), {
      title: 'Register, login within 1 s',
      description: 'Requests with a password hash. Objective: 99 %.',
      unit: 'percentunit',
      decimals: 2,
      steps: good(0.99),
    }),
    stat(`${gained('push_close_latency_seconds_bucket', oneSecond)} / ${gained('push_close_latency_seconds_count')}`, {
      title: 'Logout → close within 1 s',
      description: 'From the decision to the close frame. Objective: 99 %.',
      unit: 'percentunit',
      decimals: 2,
      steps: good(0.99),
    }),
    stat(`max(auth_outbox_oldest_age_seconds${of()})`, {
      title: 'Oldest event',
      description: 'Age of the oldest event that some subscriber does not have.',
      unit: 's',
      steps: bad(60, 600),
    }),
    stat(`sum(max by (subscriber) (auth_dead_letters${of()}))`, {
      title: 'Dead letters',
      description: 'Events that were given up and neither replayed nor discarded.',
      unit: 'none',
      steps: bad(1, 100),
    }),
    stat(`sum(push_streams_open${of()})`, {
      title: 'Open streams',
      description: 'Push streams of all gateways.',
      unit: 'short',
    }),
    stat(gained('auth_password_hashes_shed_total'), {
      title: 'Hashes shed',
      description: 'Registrations and logins refused for lack of processor, in the time shown.',
      unit: 'short',
      decimals: 0,
      steps: bad(1, 100),
    }),
    stat(gained('auth_refreshes_total', 'outcome="stolen"'), {
      title: 'Stolen tokens',
      description: 'Sessions ended because a refresh token was presented twice, in the time shown.',
      unit: 'short',
      decimals: 0,
      steps: bad(1, 10),
    }),
    stat('min(auth_probe_success{namespace=~"$namespace"})', {
      title: 'Canary',
      description: '1 if the last run of the canary succeeded. Empty if it is not deployed.',
      unit: 'none',
      steps: good(1),
    }),
  ],
};

const course: Row = {
  title: 'Course',
  panels: [
    lines(
      'none',
      'Burn rate of the error budget',
      '1 uses the budget up in 30 days; 14.4 over an hour wakes somebody.',
      ['5m', '1h', '6h'].map(
        (window) =>
          [`max(auth:api_errors:ratio_rate${window}{namespace=~"$namespace"}) / 0.001`, `errors ${window}`] as const,
      ),
    ),
    lines('reqps', 'Requests by status', 'Status 499: the client went away before its answer.', [
      rates(`${duration}_count`, 'status', everything),
    ]),
    lines('s', 'Duration of requests', 'Exemplars lead to their traces.', [
      [quantile(0.99, duration, '', plain), 'without a hash p99'],
      [quantile(0.99, duration, '', hashing), 'with a hash p99'],
    ]),
    lines('s', 'Logout → close', 'From the decision to the close frame.', [
      [quantile(0.5, 'push_close_latency_seconds'), 'p50'],
      [quantile(0.99, 'push_close_latency_seconds'), 'p99'],
      ['max(auth_probe_close_seconds{namespace=~"$namespace"})', 'canary'],
    ]),
    lines('ops', 'Logins, refreshes, registrations', 'By outcome.', [
      [rate('auth_logins_total', 'outcome'), 'login {{outcome}}'],
      [rate('auth_refreshes_total', 'outcome'), 'refresh {{outcome}}'],
      [rate('auth_registrations_total', 'outcome'), 'registration {{outcome}}'],
    ]),
    lines('none', 'Ready processes', 'Those whose /readyz answers 200.', [
      [`sum by (job) (auth_ready${of()})`, '{{job}}'],
    ]),
  ],
};

const probed = (metric: string) => `${metric}{namespace=~"$namespace"}[$__rate_interval]`;

const canary: Row = {
  title: 'Canary',
  panels: [
    lines(
      'short',
      'Runs of the canary',
      'By outcome. Empty if it is not deployed; "mails are well" is 0 or 1, empty without a mailbox.',
      [
        [`sum by (outcome) (rate(${probed('auth_probe_runs_total')}))`, '{{outcome}}'],
        ['min(auth_probe_mail_success{namespace=~"$namespace"})', 'mails are well'],
      ],
    ),
    lines('s', 'Duration of its steps, p99', 'Failed steps too.', [
      [
        `histogram_quantile(0.99, sum by (le, step) (rate(${probed('auth_probe_step_duration_seconds_bucket')})))`,
        '{{step}}',
      ],
    ]),
    lines(
      'ops',
      'Its clean-ups',
      'waiting: a subscriber does not have the event yet; skipped: it has no database; failed: MongoDB.',
      [[`sum by (outcome) (rate(${probed('auth_probe_clean_ups_total')}))`, '{{outcome}}']],
    ),
  ],
};

export const overview: Dashboard = {
  name: 'overview',
  title: 'Overview',
  description: 'Are we fine? The objectives, and what users would notice.',
  job: '$__all',
  rows: [areWeFine, course, canary],
};
