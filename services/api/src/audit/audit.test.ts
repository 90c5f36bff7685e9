import { readFileSync } from 'node:fs';
import { createMetrics } from '@auth-account/telemetry';
import { describe, expect, test } from '@jest/globals';
import { createAudit } from './audit.ts';
import { createAuditCounters } from './audit-counters.ts';
import { countAuditEvents } from './count-audit-events.ts';
import { type AuditEvent, auditEvents } from './events.ts';

const user_id = '019a9e0c-6b1f-7c3a-9d55-1f0c2b7a4e10';
const session_id = '019a9e0d-0c44-7b1e-8a3f-5c2d9e1b7a60';
const origin = { requestId: 'request-1', address: '::ffff:203.0.113.77' };

function openAudit() {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const counters = createAuditCounters(createMetrics({ service: 'test' }).registry);
  const audit = createAudit((fields) => lines.push(fields), countAuditEvents(counters));
  return { audit, lines, counters };
}

test('an event says what, of whom, by which request and from which network', () => {
  const { audit, lines } = openAudit();
  audit({ event: 'login.succeeded', user_id, session_id }, origin);
  expect(lines).toEqual([
    {
      event: 'login.succeeded',
      outcome: 'success',
      user_id,
      session_id,
      request_id: 'request-1',
      address: '203.0.113.0/24',
    },
  ]);
});

test('an IPv6 address is cut to its /48, and one that is not known says so', () => {
  const { audit, lines } = openAudit();
  audit({ event: 'limit.exceeded', reason: 'login_source' }, { ...origin, address: '2001:db8:1:2::3' });
  audit({ event: 'limit.exceeded', reason: 'login_source' }, { ...origin, address: undefined });
  expect(lines.map(({ address }) => address)).toEqual(['2001:db8:1::/48', 'unknown']);
});

describe('counters', () => {
  const session = { user_id, session_id };
  const events: AuditEvent[] = [
    { event: 'account.registered', user_id },
    { event: 'login.succeeded', ...session },
    { event: 'login.failed', user_id: undefined, reason: 'unknown_account' },
    { event: 'login.failed', user_id, reason: 'wrong_password' },
    { event: 'refresh.rotated', ...session },
    { event: 'refresh.rotated', ...session },
    { event: 'refresh.converged', ...session },
    { event: 'refresh.expired', ...session, reason: 'expired' },
    { event: 'refresh.revoked', ...session },
    { event: 'refresh.stolen', ...session },
    { event: 'refresh.abandoned', ...session },
    { event: 'limit.exceeded', reason: 'register_address' },
    { event: 'logout.succeeded', ...session },
    { event: 'session.revoked', ...session, reason: 'replaced' },
    { event: 'group.left', ...session, home_group_id: session_id },
  ];

  test('are kept by the events', async () => {
    const { audit, counters } = openAudit();
    for (const event of events) audit(event, origin);
    const valuesOf = async (counter: keyof typeof counters) =>
      Object.fromEntries(
        (await counters[counter].get()).values
          .filter(({ value }) => value > 0)
          .map(({ labels, value }) => [Object.values(labels), value]),
      );
    expect(await valuesOf('logins')).toEqual({ succeeded: 1, failed: 2 });
    const once = { converged: 1, expired: 1, revoked: 1, stolen: 1, abandoned: 1 };
    expect(await valuesOf('refreshes')).toEqual({ rotated: 2, ...once });
    expect(await valuesOf('rateLimited')).toEqual({ register_address: 1 });
    expect(await valuesOf('sessionsEnded')).toEqual({ logout: 1, replaced: 1 });
    expect(await valuesOf('groupChanges')).toEqual({ left: 1 });
  });

  test('have every outcome at zero before the first event', async () => {
    const { counters } = openAudit();
    const outcomes = (await counters.refreshes.get()).values.map(({ value }) => value);
    expect(outcomes).toEqual([0, 0, 0, 0, 0, 0]);
  });
});

test('docs/audit.md has a row for every event, with its outcome, in the same order', () => {
  const docs = readFileSync(new URL('../../../../docs/audit.md', import.meta.url), 'utf8');
  const rows = [...docs.matchAll(/^\| `([a-z]+\.[a-z_]+)` \| (success|failure) \|/gm)].map(([, name, outcome]) => [
    name,
    outcome,
  ]);
  expect(rows).toEqual(Object.entries(auditEvents).map(([name, { outcome }]) => [name, outcome]));
});
