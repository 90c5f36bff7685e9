import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CodePurpose } from '@auth-account/contracts/events';
import { createAuditSampler, createMetrics, type WriteAudit } from '@auth-account/telemetry';
import { describe, expect, test } from '@jest/globals';
import type { Counter } from 'prom-client';
import { createAudit } from './audit.ts';
import { type AuditCounters, countAuditEvents, countsOf, createAuditCounters } from './audit-counters.ts';
import { type AuditRow, type CounterRow, counterTable } from './audit-row.ts';
import { type AuditEvent, auditEvents } from './events.ts';

const user_id = '019a9e0c-6b1f-7c3a-9d55-1f0c2b7a4e10';
const session_id = '019a9e0d-0c44-7b1e-8a3f-5c2d9e1b7a60';
const source = join(import.meta.dirname, '..');
const origin = { requestId: 'request-1', network: '::ffff:203.0.113.77' };

function openAudit() {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const counters = createAuditCounters(createMetrics({ service: 'test' }).registry, ['apple']);
  const write: WriteAudit = (fields) => lines.push(fields);
  const sampler = createAuditSampler(write, { lines: 2 });
  const audit = createAudit({ write, sampler, count: countAuditEvents(counters) });
  return { audit, lines, counters, flush: sampler.flush };
}

const totalOf = async (counter: Pick<Counter, 'get'>) =>
  (await counter.get()).values.reduce((sum, { value }) => sum + value, 0);

test('an event says what happened, to whom, by which request and from which network', () => {
  const { audit, lines } = openAudit();
  audit({ event: 'login.succeeded', user_id, session_id, method: 'password' }, origin);
  expect(lines).toEqual([
    {
      event: 'login.succeeded',
      outcome: 'success',
      user_id,
      session_id,
      method: 'password',
      request_id: 'request-1',
      address: '203.0.113.0/24',
    },
  ]);
});

const limited = { event: 'limit.exceeded', user_id: undefined, account: undefined } as const;

test('an IPv6 address is cut to its /48, and an unknown one says so', () => {
  const { audit, lines } = openAudit();
  audit({ ...limited, reason: 'login_source' }, { ...origin, network: '2001:db8:1:2::3' });
  audit({ ...limited, reason: 'login_source' }, { ...origin, network: undefined });
  expect(lines.map(({ address }) => address)).toEqual(['2001:db8:1::/48', 'unknown']);
});

describe('events that anybody can cause at will', () => {
  const refused = { event: 'authorization.failed', user_id: undefined, session_id: undefined, route: '/' } as const;
  const expired = { event: 'refresh.expired', user_id: undefined, session_id: undefined } as const;
  const sampled: [AuditEvent, string][] = [
    [{ ...refused, reason: 'IAD_JWT_ACCESS_INVALID' }, '203.0.113.0/24'],
    [{ ...refused, reason: 'IAD_JWT_ACCESS_EXPIRED' }, 'various'],
    [{ ...refused, reason: 'ERR-GROUP-OWNER-REQUIRED' }, '203.0.113.0/24'],
    [{ ...expired, reason: 'not_genuine' }, '203.0.113.0/24'],
    [{ ...limited, reason: 'login_source' }, '203.0.113.0/24'],
  ];

  test.each(sampled)('events that anybody can cause are sampled, and all are counted: %j', async (event, address) => {
    const { audit, lines, flush, counters } = openAudit();
    for (let i = 0; i < 100; i += 1) audit(event, origin);
    expect(lines).toHaveLength(2);
    flush();
    expect(lines).toHaveLength(3);
    expect(lines[2]).toMatchObject({ ...event, request_id: 'request-1', address, suppressed: 97 });
    const totals = [counters.authorizationFailures, counters.refreshes, counters.rateLimited].map(totalOf);
    expect((await Promise.all(totals)).reduce((sum, total) => sum + total)).toBe(100);
  });

  test('events of another reason or network are not summed up with them', () => {
    const { audit, lines } = openAudit();
    for (const address of ['203.0.113.1', '203.0.112.1']) {
      for (const reason of ['IAD_JWT_ACCESS_INVALID', 'ERR-GROUP-OWNER-REQUIRED'] as const) {
        for (let i = 0; i < 2; i += 1) audit({ ...refused, reason }, { ...origin, network: address });
      }
    }
    expect(lines).toHaveLength(8);
  });
});

test.each<AuditEvent>([
  { event: 'login.failed', user_id, reason: 'wrong_password' },
  { event: 'refresh.expired', user_id, session_id, reason: 'expired' },
  { event: 'refresh.stolen', user_id, session_id },
  { event: 'refresh.revoked', user_id, session_id },
])('each event that concerns an account is written: %j', (event) => {
  const { audit, lines } = openAudit();
  for (let i = 0; i < 100; i += 1) audit(event, origin);
  expect(lines).toHaveLength(100);
});

describe('counters of the audit log', () => {
  const session = { user_id, session_id };
  const events: AuditEvent[] = [
    { event: 'account.registered', user_id },
    { event: 'login.succeeded', ...session, method: 'password' },
    { event: 'login.failed', user_id: undefined, reason: 'unknown_account' },
    { event: 'login.failed', user_id, reason: 'wrong_password' },
    { event: 'login.refused', user_id, reason: 'second_factor_required' },
    { event: 'second_factor.failed', user_id, reason: 'passkey' },
    { event: 'second_factor.succeeded', user_id, method: 'totp' },
    { event: 'account.stepped_up', ...session, method: 'recovery_code' },
    { event: 'refresh.rotated', ...session },
    { event: 'refresh.rotated', ...session },
    { event: 'refresh.converged', ...session },
    { event: 'refresh.expired', ...session, reason: 'proof_of_other_key' },
    { event: 'refresh.revoked', ...session },
    { event: 'refresh.stolen', ...session },
    { event: 'refresh.abandoned', ...session },
    { event: 'authorization.failed', reason: 'IAD_JWT_ACCESS_INVALID', route: '/', ...session },
    { ...limited, reason: 'register_address' },
    { event: 'logout.succeeded', ...session },
    { event: 'session.revoked', ...session, reason: 'replaced' },
    { event: 'group.left', ...session, home_group_id: session_id },
    { event: 'provider_token.refused', user_id, identity_id: 'i', provider: 'apple', reason: 'wrong_client' },
  ];

  test('counters are kept by the events', async () => {
    const { audit, counters } = openAudit();
    for (const event of events) audit(event, origin);
    const valuesOf = async (counter: keyof typeof counters) =>
      Object.fromEntries(
        (await counters[counter].get()).values
          .filter(({ value }) => value > 0)
          .map(({ labels, value }) => [Object.values(labels), value]),
      );
    expect(await valuesOf('logins')).toEqual({ succeeded: 1, failed: 2, refused: 1 });
    const failures = { unknown_account: 1, wrong_password: 1, second_factor_required: 1 };
    expect(await valuesOf('loginFailures')).toEqual(failures);
    expect(await valuesOf('sessionsOpened')).toEqual({ password: 1 });
    expect(await valuesOf('secondFactors')).toEqual({ 'passkey,failed': 1, 'totp,succeeded': 1 });
    expect(await valuesOf('stepUps')).toEqual({ recovery_code: 1 });
    expect(await valuesOf('refreshesExpired')).toEqual({ proof_of_other_key: 1 });
    const once = { converged: 1, expired: 1, revoked: 1, stolen: 1, abandoned: 1 };
    expect(await valuesOf('refreshes')).toEqual({ rotated: 2, ...once });
    expect(await valuesOf('authorizationFailures')).toEqual({ IAD_JWT_ACCESS_INVALID: 1 });
    expect(await valuesOf('rateLimited')).toEqual({ register_address: 1 });
    expect(await valuesOf('sessionsEnded')).toEqual({ logout: 1, replaced: 1 });
    expect(await valuesOf('groupChanges')).toEqual({ left: 1 });
    expect(await valuesOf('providerCodes')).toEqual({ 'apple,wrong_client': 1 });
  });

  const confirming: Record<CodePurpose, AuditEvent> = {
    email_verification: { event: 'account.email_verified', user_id },
    password_reset: { event: 'account.password_reset', user_id, invites_revoked: 0 },
    email_change: { event: 'account.email_changed', ...session },
    account_deletion: { event: 'account.deletion_scheduled', user_id, session_id: undefined },
    step_up: { event: 'code.confirmed', user_id, purpose: 'step_up' },
    second_factor_removal: { event: 'account.second_factor_removal_ordered', user_id },
    login: { event: 'code.confirmed', user_id, purpose: 'login' },
    identity_link: { event: 'code.confirmed', user_id, purpose: 'identity_link' },
  };
  const outcomesOf = async ({ codes }: AuditCounters) =>
    (await codes.get()).values.filter(({ value }) => value > 0).map(({ labels, value }) => ({ ...labels, value }));

  test.each(CodePurpose.enum)('counters count what happens to a code of the purpose %s', async (purpose) => {
    const { audit, counters } = openAudit();
    const code = { user_id, purpose };
    const all: AuditEvent[] = [
      { event: 'code.requested', ...code },
      { event: 'code.resent', ...code },
      ...(['wrong', 'dead', 'expired', 'unknown'] as const).map((reason) => ({
        event: 'code.failed' as const,
        ...code,
        reason,
      })),
      confirming[purpose],
    ];
    for (const event of all) audit(event, origin);
    const outcomes = ['confirmed', 'requested', 'resent', 'wrong', 'dead', 'expired', 'unknown'];
    expect(await outcomesOf(counters)).toEqual(outcomes.map((outcome) => ({ purpose, outcome, value: 1 })));
  });

  test('a deletion that the password ordered counts no code', async () => {
    const { audit, counters } = openAudit();
    audit({ event: 'account.deletion_scheduled', ...session }, origin);
    expect(await outcomesOf(counters)).toEqual([]);
  });

  test('counters have every outcome at zero before the first event', async () => {
    const { counters } = openAudit();
    const outcomes = (await counters.refreshes.get()).values.map(({ value }) => value);
    expect(outcomes).toEqual([0, 0, 0, 0, 0, 0]);
    const codes = (await counters.authorizationFailures.get()).values.map(({ labels, value }) => [labels.code, value]);
    expect(codes).toEqual([
      ['IAD_JWT_ACCESS_INVALID', 0],
      ['IAD_JWT_ACCESS_EXPIRED', 0],
      ['ERR-REAUTHENTICATION-FAILED', 0],
      ['ERR-STEP-UP-REQUIRED', 0],
      ['ERR-CODE-INVALID', 0],
      ['ERR-SECOND-FACTOR-INVALID', 0],
      ['ERR-PASSKEY-INVALID', 0],
      ['ERR-IDENTITY-TOKEN-INVALID', 0],
      ['ERR-GROUP-OWNER-REQUIRED', 0],
      ['ERR-INVALID-CREDENTIALS', 0],
    ]);
  });
});

describe('the table of audit events', () => {
  const rows: [string, AuditRow][] = Object.entries(auditEvents);

  test('the table samples only existing reasons', () => {
    const unknown = rows.flatMap(([name, { reasons = {}, sampled = [], sampledTogether = [] }]) =>
      [
        ...sampled.filter((reason) => !(reason in reasons)),
        ...sampledTogether.filter((one) => !sampled.includes(one)),
      ].map((reason) => `${name} ${reason}`),
    );
    expect(unknown).toEqual([]);
  });

  const isText = (path: string) => !/\.test\.ts$|^audit\//.test(path);
  const sources = globSync('**/*.ts', { cwd: source }).filter(isText);
  const text = sources.map((path) => readFileSync(join(source, path), 'utf8')).join('\n');

  test('the table has only events that the api writes', () => {
    expect(rows.map(([name]) => name).filter((name) => !text.includes(`'${name}'`))).toEqual([]);
  });

  test('the table counts an event by a field that it always has, and whose values are known', () => {
    const faults = rows.flatMap(([name, row]) =>
      countsOf(row)
        .filter(({ in: counter, from }) => {
          if (from === undefined) return false;
          if (from === 'reason') return row.reasons === undefined;
          const { values }: CounterRow = counterTable[counter];
          return !row.fields.includes(from) || values === undefined;
        })
        .map(({ from }) => `${name} ${from}`),
    );
    expect(faults).toEqual([]);
  });

  test('the table bounds the sampled lines per minute, as docs/audit.md says', () => {
    const kinds = rows.reduce((sum, [, { sampled = [] }]) => sum + sampled.length, 0);
    const [networks, lines] = [100, 10];
    expect((networks + kinds) * (lines + 1)).toBeLessThanOrEqual(1_700);
  });

  test('the table counts every event of a family that has a counter, except names of groups', () => {
    const families = (isCounted: boolean) =>
      rows.filter(([, { counts }]) => Boolean(counts) === isCounted).map(([name]) => name);
    const counted = new Set(families(true).map((name) => name.replace(/\..*/, '')));
    counted.delete('account');
    const rest = families(false).filter((name) => counted.has(name.replace(/\..*/, '')));
    expect(rest).toEqual(['logout.all', 'group.renamed']);
  });
});
