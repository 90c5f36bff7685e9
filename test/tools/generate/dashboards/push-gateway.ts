import { lines, of, rate, rates, spread } from './panel.ts';
import { processRow, tokenLookups } from './shared-panels.ts';
import type { Dashboard, Row } from './to-grafana.ts';

const streams: Row = {
  title: 'Streams',
  panels: [
    lines('short', 'Open', 'By process.', [[`push_streams_open${of()}`, '{{instance}}']]),
    lines('ops', 'Opened and closed', 'Closed by code and reason (docs/push.md).', [
      [rate('push_streams_opened_total'), 'opened'],
      rates('push_streams_closed_total', 'code, reason'),
    ]),
    lines('ops', 'Handshakes without a stream', 'Refused by code, given up, lost (ADR 0004).', [
      rates('push_upgrades_refused_total', 'code'),
      [rate('push_upgrades_aborted_total'), 'given up by the client'],
      [rate('push_upgrades_lost_total'), 'lost while opening'],
    ]),
    lines('ops', 'Access tokens refused', 'By their first fault. early: a clock; key: a key file; others: settings.', [
      rates('auth_access_tokens_total', 'result', 'result!="accepted"'),
    ]),
    lines(
      'ops',
      'Authorization refused',
      'Handshakes and frames, all of them; the audit log has samples (docs/audit.md).',
      [rates('auth_authorization_failures_total', 'code')],
    ),
  ],
};

const closes: Row = {
  title: 'Closing',
  panels: [
    lines(
      's',
      'Decision to close frame',
      'By the clock of the host that decided. Exemplars lead to their traces.',
      spread('push_close_latency_seconds'),
    ),
    lines('ops', 'Commands', 'ignored: no such stream here.', [
      rates('push_commands_total', 'result'),
      [rate('push_commands_lost_total'), 'not published'],
    ]),
    lines('ops', 'Closed by comparing', 'Streams whose command was missed and that the deny list named.', [
      [rate('push_reconcile_closed_total'), 'closed'],
    ]),
    lines('ops', 'Looks at the deny list', 'unavailable: Redis is away, or the list is not complete.', [
      rates('push_reconcile_rounds_total', 'kind, result'),
    ]),
    lines('ops', 'Records of closes lost', 'For tracing a logout only.', [
      [rate('push_close_records_lost_total'), 'lost'],
    ]),
  ],
};

const messages: Row = {
  title: 'Messages of other services',
  panels: [
    lines('ops', 'Messages', 'malformed, too_big and overload are dropped.', [rates('push_messages_total', 'result')]),
    lines('ops', 'Frames', 'gone: the stream had ended before its turn.', [
      rates('push_message_frames_total', 'result'),
    ]),
    tokenLookups,
  ],
};

export const pushGateway: Dashboard = {
  name: 'push-gateway',
  title: 'Push gateway',
  description: 'Streams, how they close, and what goes through them.',
  job: 'auth-push-gateway',
  rows: [streams, closes, messages, processRow],
};
