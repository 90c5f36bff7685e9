import { lines, of, rate, rates } from './panel.ts';
import type { Row } from './to-grafana.ts';

/** Panels about the processes of every service. */
export const processRow: Row = {
  title: 'Processes',
  panels: [
    lines('none', 'CPU', 'Cores in use.', [
      [`rate(process_cpu_seconds_total${of()}[$__rate_interval])`, '{{instance}}'],
    ]),
    lines('bytes', 'Memory', 'Resident.', [[`process_resident_memory_bytes${of()}`, '{{instance}}']]),
    lines('s', 'Lag of the event loop, p99', 'Every request of the process waits that long.', [
      [`nodejs_eventloop_lag_p99_seconds${of()}`, '{{instance}}'],
    ]),
    lines('none', 'Ready', '1 if /readyz answers 200.', [[`auth_ready${of()}`, '{{instance}}']]),
    lines('none', 'Key files refused', '1: the content is refused, and the former keys stay.', [
      [`max by (instance, file) (auth_key_file_refused${of()})`, '{{instance}} {{file}}'],
    ]),
    lines('none', 'Builds', 'How many processes run which.', [
      [`count by (version, node) (auth_build_info${of()})`, '{{version}} on Node {{node}}'],
    ]),
  ],
};

export const triedAgain = lines(
  'ops',
  'Transactions tried again',
  'work: a conflict with another write; commit: its result was not known; hold: refreshes wait until the change has ended.',
  [
    rates('auth_transaction_retries_total', 'kind'),
    [rate('auth_session_holds_total', 'outcome'), 'hold of sessions {{outcome}}'],
  ],
);

export const tokenLookups = lines('ops', 'Access tokens', 'hit: verified before; miss: its signature was looked at.', [
  rates('access_token_lookups_total', 'result'),
]);
