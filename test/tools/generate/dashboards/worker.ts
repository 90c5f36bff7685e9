import { lines, of, quantile, rate, rates } from './panel.ts';
import { processRow, triedAgain } from './shared-panels.ts';
import type { Dashboard, Row } from './to-grafana.ts';

const events: Row = {
  title: 'Events',
  panels: [
    lines('s', 'Age of the oldest event', 'That some subscriber does not have.', [
      [`max(auth_outbox_oldest_age_seconds${of()})`, 'oldest'],
    ]),
    lines('short', 'Outbox', 'Events that some subscriber does not have; 100,000 at most are counted.', [
      [`max(auth_outbox_depth${of()})`, 'events'],
    ]),
    lines(
      'ops',
      'Taken up by the relay',
      'Rows that had been left: the api could not hand them over, or nobody delivered them in time.',
      [[rate('auth_outbox_claims_total'), 'rows']],
    ),
    lines('ops', 'Deliveries', 'Attempts by subscriber and outcome.', [
      rates('auth_event_deliveries_total', 'subscriber, outcome'),
      [rate('auth_events_brought_forward_total', 'subscriber'), '{{subscriber}} brought forward'],
    ]),
    lines('s', 'Duration of an attempt, p99', 'Exemplars lead to their traces.', [
      [quantile(0.99, 'auth_event_delivery_duration_seconds', 'subscriber'), '{{subscriber}}'],
    ]),
    lines('short', 'Dead letters, suspensions', 'authctl events list --dead-letters', [
      [`max by (subscriber) (auth_dead_letters${of()})`, '{{subscriber}}'],
      [`max by (subscriber) (auth_subscriber_parked${of()})`, '{{subscriber}} suspended'],
    ]),
  ],
};

const sessions: Row = {
  title: 'Sessions',
  panels: [
    lines('ops', 'Forced logouts', 'Attempts by outcome; repeated: it had been done.', [
      rates('auth_force_logouts_total', 'outcome'),
    ]),
    lines('ops', 'Revocations made good', 'That Redis did not have and that were written from MongoDB.', [
      [rate('auth_revocations_reconciled_total'), 'revocations'],
    ]),
    lines('ops', 'Deny list written again', 'As a whole: Redis had lost its data or changed its primary.', [
      [rate('auth_deny_list_rebuilds_total'), 'rebuilds'],
    ]),
    lines('ops', 'Transactions', 'failed: MongoDB.', [rates('auth_transactions_total', 'outcome')]),
    triedAgain,
  ],
};

const mails: Row = {
  title: 'Mails and erasures',
  panels: [
    lines('ops', 'Mails sent', 'Codes and notifications, by purpose.', [
      rates('auth_mails_total', 'purpose', 'outcome="sent"'),
    ]),
    lines(
      'ops',
      'Mails not sent',
      'failed: tried again; expired: the code was too old; void: there was nobody or nothing to write to.',
      [rates('auth_mails_total', 'purpose, outcome', 'outcome!="sent"')],
    ),
    lines(
      'ops',
      'Codes too late',
      'Requests to mail a code that were dropped because the code had expired, by subscriber.',
      [rates('auth_events_expired_total', 'subscriber')],
    ),
    lines('ops', 'Erasures', 'Of accounts whose deletion was ordered and whose grace is over.', [
      rates('auth_erasures_total', 'outcome'),
    ]),
    lines(
      'short',
      'Erasures and removals overdue',
      'Accounts and second factors that should have been removed ten minutes ago or earlier.',
      [
        [`max(auth_erasures_overdue${of()})`, 'accounts'],
        [`max(auth_factor_removals_overdue${of()})`, 'second factors'],
      ],
    ),
    lines(
      'ops',
      'Tokens of providers revoked',
      'After the identity or account is gone. failed, wrong_client (our key or client id): tried again, for 30 days.',
      [rates('auth_provider_revocations_total', 'provider, outcome')],
    ),
    lines('short', 'Tokens of providers to revoke', 'They wait for their providers.', [
      [`max(auth_provider_revocations_pending${of()})`, 'tokens'],
    ]),
  ],
};

export const worker: Dashboard = {
  name: 'worker',
  title: 'Worker',
  description: 'Events on their way, forced logouts, mails, erasures, what is made good.',
  job: 'auth-worker',
  rows: [events, sessions, mails, processRow],
};
