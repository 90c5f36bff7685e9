import { lines, of, quantile, rate } from './panel.ts';
import { processRow } from './process-row.ts';
import type { Dashboard, Row } from './to-grafana.ts';

const events: Row = {
  title: 'Events',
  panels: [
    lines([[`max(auth_outbox_oldest_age_seconds${of()})`, 'oldest']], {
      title: 'Age of the oldest event',
      description: 'That some subscriber does not have.',
      unit: 's',
    }),
    lines([[`max(auth_outbox_depth${of()})`, 'events']], {
      title: 'Outbox',
      description: 'Events that some subscriber does not have; 100,000 at most are counted.',
      unit: 'short',
    }),
    lines([[rate('auth_outbox_claims_total'), 'rows']], {
      title: 'Taken up by the relay',
      description: 'Rows that had been left: the api could not hand them over, or nobody delivered them in time.',
      unit: 'ops',
    }),
    lines(
      [
        [rate('auth_event_deliveries_total', 'subscriber, outcome'), '{{subscriber}} {{outcome}}'],
        [rate('auth_events_brought_forward_total', 'subscriber'), '{{subscriber}} brought forward'],
      ],
      { title: 'Deliveries', description: 'Attempts by subscriber and outcome.', unit: 'ops' },
    ),
    lines([[quantile(0.99, 'auth_event_delivery_duration_seconds', 'subscriber'), '{{subscriber}}']], {
      title: 'Duration of an attempt, p99',
      description: 'Exemplars lead to their traces.',
      unit: 's',
    }),
    lines(
      [
        [`max by (subscriber) (auth_dead_letters${of()})`, '{{subscriber}}'],
        [`max by (subscriber) (auth_subscriber_parked${of()})`, '{{subscriber}} suspended'],
      ],
      { title: 'Dead letters, suspensions', description: 'authctl events list --dead-letters', unit: 'short' },
    ),
  ],
};

const sessions: Row = {
  title: 'Sessions',
  panels: [
    lines([[rate('auth_force_logouts_total', 'outcome'), '{{outcome}}']], {
      title: 'Forced logouts',
      description: 'Attempts by outcome; repeated: it had been done.',
      unit: 'ops',
    }),
    lines([[rate('auth_revocations_reconciled_total'), 'revocations']], {
      title: 'Revocations made good',
      description: 'That Redis did not have and that were written from MongoDB.',
      unit: 'ops',
    }),
    lines([[rate('auth_deny_list_rebuilds_total'), 'rebuilds']], {
      title: 'Deny list written again',
      description: 'As a whole: Redis had lost its data or changed its primary.',
      unit: 'ops',
    }),
    lines([[rate('auth_transactions_total', 'outcome'), '{{outcome}}']], {
      title: 'Transactions',
      description: 'failed: MongoDB.',
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
  ],
};

const mails: Row = {
  title: 'Mails and erasures',
  panels: [
    lines([[rate('auth_mails_total', 'purpose', 'outcome="sent"'), '{{purpose}}']], {
      title: 'Mails sent',
      description: 'Codes and notifications, by purpose.',
      unit: 'ops',
    }),
    lines([[rate('auth_mails_total', 'purpose, outcome', 'outcome!="sent"'), '{{purpose}} {{outcome}}']], {
      title: 'Mails not sent',
      description: 'failed: tried again; expired: the code was too old; void: there was nobody or nothing to write to.',
      unit: 'ops',
    }),
    lines([[rate('auth_events_expired_total', 'subscriber'), '{{subscriber}}']], {
      title: 'Codes too late',
      description: 'Requests to mail a code that were dropped because the code had expired, by subscriber.',
      unit: 'ops',
    }),
    lines([[rate('auth_erasures_total', 'outcome'), '{{outcome}}']], {
      title: 'Erasures',
      description: 'Of accounts whose deletion was ordered and whose grace is over.',
      unit: 'ops',
    }),
    lines(
      [
        [`max(auth_erasures_overdue${of()})`, 'accounts'],
        [`max(auth_factor_removals_overdue${of()})`, 'second factors'],
      ],
      {
        title: 'Erasures and removals overdue',
        description: 'Accounts and second factors that should have been removed ten minutes ago or earlier.',
        unit: 'short',
      },
    ),
    lines([[rate('auth_provider_revocations_total', 'provider, outcome'), '{{provider}} {{outcome}}']], {
      title: 'Tokens of providers revoked',
      description:
        'After the identity or account is gone. failed, wrong_client (our key or client id): tried again, for 30 days.',
      unit: 'ops',
    }),
    lines([[`max(auth_provider_revocations_pending${of()})`, 'tokens']], {
      title: 'Tokens of providers to revoke',
      description: 'They wait for their providers.',
      unit: 'short',
    }),
  ],
};

export const worker: Dashboard = {
  name: 'worker',
  title: 'Worker',
  description: 'Events on their way, forced logouts, mails, erasures, what is made good.',
  job: 'auth-worker',
  rows: [events, sessions, mails, processRow],
};
