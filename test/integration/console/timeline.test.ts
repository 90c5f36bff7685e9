import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { logIn, logOut, newSession, password, registerAccount } from '../../support/api/accounts.ts';
import { bearer, withHeaders } from '../../support/api/api-driver.ts';
import { newSessionDocument } from '../../support/api/session-document.ts';
import { authctl } from '../../support/processes/authctl.ts';
import { plansOf } from '../../support/stores/query-plans.ts';
import { newNotification } from '../../support/worker/worker-events.ts';
import { openReadingFixture, type ReadingFixture } from './reading-fixture.ts';

let fixture: ReadingFixture;
beforeAll(async () => {
  fixture = await openReadingFixture();
});
afterAll(() => fixture.close());

interface Entry {
  readonly at: string;
  readonly request_id: string | null;
  readonly steps: readonly { readonly at: string; readonly what: string; readonly facts: Record<string, unknown> }[];
}

/** Reads the timeline, part by part. */
async function timelineOf(userId: string): Promise<Entry[][]> {
  const parts: Entry[][] = [];
  let after = '';
  for (;;) {
    const { status, json } = await fixture.read(`/api/accounts/${userId}/timeline${after}`);
    expect(status).toBe(200);
    parts.push(json.items);
    if (json.next === null) return parts;
    after = `?after=${json.next}`;
  }
}
const whatOf = ({ steps }: Pick<Entry, 'steps'>) => steps.map(({ what }) => what).sort();

test('the steps of one request are one entry: the ended sessions, the event and the notification', async () => {
  const session = await newSession(fixture);
  const other = await logIn(fixture, session.email, { device_name: 'Old phone' });
  const headers = { ...bearer(session), 'X-Request-ID': 'change-of-password' };
  const body = { current_password: password, new_password: 'another horse battery' };
  expect((await fixture.changePassword(body, headers)).status).toBe(200);
  const [[newest]] = (await timelineOf(session.user_id)) as [[Entry]];
  expect(newest.request_id).toBe('change-of-password');
  expect(whatOf(newest)).toEqual(['notice', 'password_changed', 'password_changed_last', 'session_ended']);
  const facts = { session_id: other.session_id, device_name: 'Old phone', reason: 'password_changed' };
  expect(newest.steps.find(({ what }) => what === 'session_ended')?.facts).toEqual(facts);
});

test('the whole life of an account is told, newest first, and ends with its registration', async () => {
  const each = (id: string) => withHeaders(fixture, { 'X-Request-ID': id });
  const account = await registerAccount(each('registration'));
  const session = await logIn(each('login'), account.email, { device_name: 'Phone' });
  await logOut(each('logout'), session);
  await authctl(['user', 'disable', account.user_id, '--reason', 'spam', '--as', 'Olga'], fixture.options);
  const entries = (await timelineOf(account.user_id)).flat();
  const told = entries.flatMap(({ steps }) => steps.map(({ what }) => what));
  expect(new Set(told)).toEqual(
    new Set(['account_disabled', 'session_ended', 'session_created', 'registered', 'account_created', 'group_joined']),
  );
  expect(entries.map(({ request_id }) => request_id)).toEqual([null, 'logout', 'login', 'registration']);
  const times = entries.map(({ at }) => at);
  expect(times).toEqual(times.toSorted().reverse());
});

test('a long timeline comes in parts and tells each step once, whatever overlaps', async () => {
  const { user_id } = await newSession(fixture);
  const begun = Date.now() - 10_000_000;
  // Each session was opened while ten others were live.
  const documents = Array.from({ length: 150 }, (_, index) => {
    const at = begun - index * 10_000;
    const revoked = { is_revoked: true, revoked_at: new Date(at + 100_000), revoked_reason: 'logout' as const };
    const requests = { created_request_id: `in-${randomUUID()}`, revoked_request_id: `out-${randomUUID()}` };
    return { ...newSessionDocument(), user_id, created_at: new Date(at), ...requests, ...revoked };
  });
  await fixture.collections.sessions.insertMany(documents);
  const at = new Date();
  const events = Array.from({ length: 70 }, () => newNotification({ user_id }));
  const row = { state: 'delivered' as const, created_at: at, locked_until: at, attempts: 1, deliveries: {} };
  await fixture.collections.outbox.insertMany(
    events.map((event) => ({
      _id: event.id,
      topic: event.type,
      event,
      ...row,
      created_at: new Date(event.time),
      delivered_at: at,
    })),
  );
  const parts = await timelineOf(user_id);
  const steps = parts.flat().flatMap((entry) => entry.steps);
  const count = (name: string) => steps.filter(({ what }) => what === name).length;
  expect([count('session_created'), count('session_ended'), count('notice')]).toEqual([151, 150, 70]);
  expect(new Set(steps.map(({ what, facts }) => JSON.stringify([what, facts]))).size).toBe(steps.length);
  const times = parts.flat().map((entry) => Date.parse(entry.at));
  expect(times).toEqual(times.toSorted((a, b) => b - a));

  const { json } = await fixture.read(`/api/accounts/${user_id}/timeline`);
  const next = `/api/accounts/${user_id}/timeline?after=${json.next}`;
  const plans = await plansOf(fixture.monitored, fixture.db, () => fixture.read(next));
  expect(plans.filter(({ stages }) => stages.has('COLLSCAN') || stages.has('SORT'))).toEqual([]);
});
