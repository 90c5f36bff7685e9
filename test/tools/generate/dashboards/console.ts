import { lines, rates, spread } from './panel.ts';
import { processRow } from './shared-panels.ts';
import type { Dashboard, Row } from './to-grafana.ts';

const staff: Row = {
  title: 'Staff',
  panels: [
    lines('ops', 'Sign-ins', 'By outcome (docs/console.md).', [rates('auth_console_sign_ins_total', 'outcome')]),
    lines('ops', 'Looks at personal data', 'By route; the audit log says whose and why.', [
      rates('auth_console_lookups_total', 'route'),
    ]),
    lines('ops', 'Refused by a limit', 'lookups and actions: of a person; sign_ins: of a network.', [
      rates('auth_console_limited_total', 'limit'),
    ]),
    lines('ops', 'Actions', 'refused: no right, or not possible; failed: a store is away, or a bug.', [
      rates('auth_console_actions_total', 'action, outcome'),
    ]),
    lines('ops', 'Consents of a second person', 'By outcome.', [rates('auth_console_consents_total', 'outcome')]),
    lines('s', 'Duration of requests', 'All routes.', spread('auth_console_request_duration_seconds')),
  ],
};

export const staffConsole: Dashboard = {
  name: 'console',
  title: 'Console',
  description: 'What staff do, and what is refused.',
  job: 'auth-console',
  rows: [staff, processRow],
};
