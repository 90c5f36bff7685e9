import { lines, of, rate, spread } from './panel.ts';
import { processRow } from './process-row.ts';
import type { Dashboard, Row } from './to-grafana.ts';

const streams: Row = {
  title: 'Streams',
  panels: [
    lines([[`push_streams_open${of()}`, '{{instance}}']], { title: 'Open', description: 'By process.', unit: 'short' }),
    lines(
      [
        [rate('push_streams_opened_total'), 'opened'],
        [rate('push_streams_closed_total', 'code, reason'), '{{code}} {{reason}}'],
      ],
      { title: 'Opened and closed', description: 'Closed by code and reason (docs/push.md).', unit: 'ops' },
    ),
    lines(
      [
        [rate('push_upgrades_refused_total', 'code'), '{{code}}'],
        [rate('push_upgrades_aborted_total'), 'given up by the client'],
        [rate('push_upgrades_lost_total'), 'lost while opening'],
      ],
      { title: 'Handshakes without a stream', description: 'Refused by code, given up, lost (ADR 0004).', unit: 'ops' },
    ),
    lines([[rate('auth_access_tokens_total', 'result', 'result!="accepted"'), '{{result}}']], {
      title: 'Access tokens refused',
      description: 'By their first fault. early: a clock; key: a key file; others: settings.',
      unit: 'ops',
    }),
    lines([[rate('auth_authorization_failures_total', 'code'), '{{code}}']], {
      title: 'Authorization refused',
      description: 'Handshakes and frames, all of them; the audit log has samples (docs/audit.md).',
      unit: 'ops',
    }),
  ],
};

const closes: Row = {
  title: 'Closing',
  panels: [
    lines(spread('push_close_latency_seconds'), {
      title: 'Decision to close frame',
      description: 'By the clock of the host that decided. Exemplars lead to their traces.',
      unit: 's',
    }),
    lines(
      [
        [rate('push_commands_total', 'result'), '{{result}}'],
        [rate('push_commands_lost_total'), 'not published'],
      ],
      { title: 'Commands', description: 'ignored: no such stream here.', unit: 'ops' },
    ),
    lines([[rate('push_reconcile_closed_total'), 'closed']], {
      title: 'Closed by comparing',
      description: 'Streams whose command was missed and that the deny list named.',
      unit: 'ops',
    }),
    lines([[rate('push_reconcile_rounds_total', 'kind, result'), '{{kind}} {{result}}']], {
      title: 'Looks at the deny list',
      description: 'unavailable: Redis is away, or the list is not complete.',
      unit: 'ops',
    }),
    lines([[rate('push_close_records_lost_total'), 'lost']], {
      title: 'Records of closes lost',
      description: 'For tracing a logout only.',
      unit: 'ops',
    }),
  ],
};

const messages: Row = {
  title: 'Messages of other services',
  panels: [
    lines([[rate('push_messages_total', 'result'), '{{result}}']], {
      title: 'Messages',
      description: 'malformed, too_big and overload are dropped.',
      unit: 'ops',
    }),
    lines([[rate('push_message_frames_total', 'result'), '{{result}}']], {
      title: 'Frames',
      description: 'gone: the stream had ended before its turn.',
      unit: 'ops',
    }),
    lines([[rate('access_token_lookups_total', 'result'), '{{result}}']], {
      title: 'Access tokens',
      description: 'hit: verified before; miss: its signature was looked at.',
      unit: 'ops',
    }),
  ],
};

export const pushGateway: Dashboard = {
  name: 'push-gateway',
  title: 'Push gateway',
  description: 'Streams, how they close, and what goes through them.',
  job: 'auth-push-gateway',
  rows: [streams, closes, messages, processRow],
};
